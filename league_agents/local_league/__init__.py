"""A whole league on this machine: a local Gmail, one process per seat, and the clocks of all processes."""
