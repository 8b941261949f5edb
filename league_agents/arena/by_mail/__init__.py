"""Seats that are mailboxes: a match of any game by e-mail, as envelopes of the Boardgame Protocol in letters."""
