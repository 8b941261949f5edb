"""The durable memory of one role on one mailbox: the port and its adapters."""
