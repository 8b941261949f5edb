"""The packages of the environment that runs the tests, for an environment that a test makes."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path


def link_dependencies(folder: Path) -> Path:
    """Fill ``folder`` with links to every installed package but this one and pip. Return it."""
    folder.mkdir()
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if not re.match(r"(_?league_agents|_editable|pip\b|pip-)", each.name) and each.suffix != ".pth":
            (folder / each.name).symlink_to(each)
    return folder
