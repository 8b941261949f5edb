"""The role machines of the league: events in, effects out. Pure."""
