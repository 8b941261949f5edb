"""The referee's machine."""
