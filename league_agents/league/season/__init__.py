"""What the league computes: schedule, standings, how matches ended."""
