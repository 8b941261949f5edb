"""The player's machine."""
