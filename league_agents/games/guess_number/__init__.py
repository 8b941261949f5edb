"""Guess number: agents look for one number together and tell each other what was wrong (arena 2). Pure."""
