"""Who plays in the arena: scripted, random, human, remote and model-backed agents behind one interface."""
