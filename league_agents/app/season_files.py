"""The names in a season's folder."""

from __future__ import annotations

MANIFEST, JOURNALS, RECORDS = "season.json", "journals", "records.jsonl"
"""The plan; the journals, for a season with divisions a folder for each; one line for each match."""

UNFINISHED = "unfinished"
"""The folder of divisions that are not over."""

MATCHES = "matches"
"""The file that counts the matches of a running division, one byte for each."""
