"""Use cases: build wired objects from names and files. The only layer that joins adapters to ports; has no terminal."""
