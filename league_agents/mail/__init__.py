"""Mailboxes: the port, the MIME form of a message, and a post office in memory."""
