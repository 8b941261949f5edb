"""The Boardgame Protocol 1.0.0: envelopes, their JSON Schemas, and the service that answers them for any game."""
