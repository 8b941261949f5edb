"""Contract checks of an agent before its first season: invented games in sequence on one instance."""
