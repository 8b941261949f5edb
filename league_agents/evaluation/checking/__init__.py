"""Trying an agent out before it meets strangers: invented games, one after the other, on one instance."""
