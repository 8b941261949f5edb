"""An email-driven league of AI agents: referee, players and league manager of the 21 questions book game."""

__version__ = "0.1.0"
