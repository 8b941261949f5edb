"""Gmail's search, as far as the mailbox uses it.

Rule: a search is a hint. It may lag behind what arrived, and ``From`` may be forged: what it finds is read sooner, and
what it does not find is read all the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection

QUERY = "is:unread (subject:league.v2 OR subject:Q21G OR filename:json)"
"""Unread mail that may be protocol mail (protocol 2.4). Gmail leaves out spam and trash."""

LONGEST_TERMS = 1_500
"""Characters of addresses in one query. Gmail's own limit is not documented; an address of a request has about 8,000
characters, and some of these take three."""

# Other addresses may hold characters that mean something in a query.
_SEARCHABLE = re.compile(r"[a-z0-9._+-]+@[a-z0-9.-]+", re.ASCII)


def from_any_of(query: str, addresses: Collection[str]) -> list[str]:
    """Queries that together find the mails of ``query`` whose ``From`` names one of ``addresses``; as few as fit."""
    queries: list[str] = []
    terms: list[str] = []
    length = 0
    for address in sorted(addresses):
        if _SEARCHABLE.fullmatch(address) is None:
            continue
        term = f"from:{address}"
        if terms and length + len(term) >= LONGEST_TERMS:
            queries.append(f"{query} {{{' '.join(terms)}}}")
            terms, length = [], 0
        terms.append(term)
        length += len(term) + 1
    if terms:
        queries.append(f"{query} {{{' '.join(terms)}}}")
    return queries
