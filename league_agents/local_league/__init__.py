"""A whole league on this machine: a local Gmail, a process for each seat, and the clocks of all of them."""
