"""A local stand-in for Gmail: the endpoints that the real client libraries use, and the post between accounts."""
