"""Adapters of the model port, one module or package for each service."""
