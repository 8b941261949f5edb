"""Use cases: names and files in, wired objects out. The one place that joins adapters to ports; knows no terminal."""
