"""User code: load a user's class, call it, and copy its results."""
