"""What every game is made of. Pure: no clock, no global randomness, no input or output."""
