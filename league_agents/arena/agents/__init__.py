"""The agents of the arena: scripted, random, human, remote and model-backed ones behind one interface."""
