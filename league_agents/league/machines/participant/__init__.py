"""The league level that a referee and a player share: the season from a participant's view."""
