"""The computations of a season: schedule, standings, ratings, match outcomes."""
