"""The three role machines of the league, and what the league computes: schedule and standings. Pure."""
