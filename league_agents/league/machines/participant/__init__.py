"""What a referee and a player share: the season as one of its participants sees it."""
