"""How well an agent plays or judges: seeded games by direct calls, and figures with the interval that they deserve."""
