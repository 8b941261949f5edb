"""The number of files and connections that this process may have open."""

from __future__ import annotations

import sys

if sys.platform != "win32":
    import resource


def room_for_open_files(needed: int) -> int | None:
    """Raise the limit of open files to ``needed`` as far as this user may. Return the limit; ``None`` if there is
    none."""
    if sys.platform == "win32":
        return None
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return None
    if allowed < needed:
        wanted = needed if most == resource.RLIM_INFINITY else min(needed, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
        allowed = wanted
    return allowed
