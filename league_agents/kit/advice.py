"""Import Google's libraries without the warning that they print about the Python version.

On import they check when Google stops supporting this Python version. If that is less than a year away they warn, and
to name a package in the warning they read the file lists of all installed packages, which takes longer than the import.
This program's own requirements state which versions of Python it supports.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata


@contextmanager
def without_advice() -> Iterator[None]:
    """Suppress the warning for imports of Google's libraries inside the ``with`` block."""
    search = metadata.packages_distributions
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        setattr(metadata, "packages_distributions", dict)  # noqa: B010 - mypy forbids to assign to a function
        try:
            yield
        finally:
            setattr(metadata, "packages_distributions", search)  # noqa: B010 - see above
