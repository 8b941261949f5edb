"""Our own Gmail on this machine: the endpoints that the real client libraries use, and the post between accounts."""
