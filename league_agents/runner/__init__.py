"""Running the machines: fetch mail, commit, call agents, send, acknowledge last."""
