"""The keys of a rule file: read as every mapping is, and whoever lacks one is told what to start from."""

from __future__ import annotations

from league_agents.kit import keys


class RuleKeys(keys.Keys):
    """One mapping of a rule file, read key by key."""

    missing = "is missing (or start from a built-in set with 'extends: prd' or 'extends: course')"
