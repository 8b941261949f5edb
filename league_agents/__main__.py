"""``python -m league_agents`` is the command ``league-agents``."""

from league_agents.cli import main

if __name__ == "__main__":
    main()
