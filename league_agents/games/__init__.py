"""The games, each with its rules in one place. Pure: no clock, no global randomness, no input or output."""
