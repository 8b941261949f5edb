"""A referee's calls to a model, and the checks of the replies in code."""
