"""Adapters of the model port, one module or package for each service.

Each holds one ``PROVIDER``, a ``league_agents.llm.provider.Provider``; adding a provider needs no other change.
"""
