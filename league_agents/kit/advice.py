"""Google's libraries give advice when they are imported; here they are imported without it.

They look up when Google stops supporting this Python version. When that is less than a year away they warn, and to name
a package in the warning they read the file lists of everything that is installed, which takes longer than the import.
This program's own requirements say which versions of Python will do.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata


@contextmanager
def without_advice() -> Iterator[None]:
    """Import Google's libraries inside it."""
    search = metadata.packages_distributions
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        setattr(metadata, "packages_distributions", dict)  # noqa: B010 - mypy forbids to assign to a function
        try:
            yield
        finally:
            setattr(metadata, "packages_distributions", search)  # noqa: B010 - see above
