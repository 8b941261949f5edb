"""Evaluation of agents that play or judge: seeded games by direct calls, and figures with confidence intervals."""
