"""What tests need besides themselves: servers, seasons, links and books. Checked as strictly as the package."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout. What runs a module of this folder in another process puts it on that one's ``PYTHONPATH``."""
