"""The arena: any game between agents, people and models, in one process or over the Boardgame Protocol."""
