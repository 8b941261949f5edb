"""The minds of the league: what users subclass, and the built-in agents."""
