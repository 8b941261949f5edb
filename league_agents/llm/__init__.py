"""Language models: one port, and its adapters."""
