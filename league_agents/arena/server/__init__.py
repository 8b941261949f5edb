"""The arena's server: the Boardgame Protocol over WebSocket and HTTP, a lobby, and a page for people."""
