"""Agents of the league: the base classes that users subclass, and the built-in agents."""
