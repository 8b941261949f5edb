"""What a system without bash and without Unix needs: no module needs Unix to be imported, and a clone can be set up.

Read from the source, because there is no Windows here to try it on.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNIX_MODULES = {"curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
UNIX_NAMES = re.compile(
    r"signal\.(SIG(?!INT\b|TERM\b|ABRT\b|FPE\b|ILL\b|SEGV\b|BREAK\b|_)[A-Z0-9]+|alarm|pause|setitimer|pthread_\w+)"
    r"|os\.(fork|get[ep]?[ug]id|get[ep]?pgrp|killpg|setsid|waitid|uname|geteuid|P_PID|O_NOFOLLOW|O_DIRECTORY)"
    r"|socket\.AF_UNIX|select\.e?poll"
)
ASKS = re.compile(r"platform|TYPE_CHECKING|hasattr|os\.name")
SUSPECT = re.compile(rf"\b(?:{'|'.join(sorted(UNIX_MODULES))})\b|{UNIX_NAMES.pattern}")


def needs_unix(source: str) -> Iterator[str]:
    """What the module uses when it is imported, outside a branch that asks for the system."""

    def walk(node: ast.AST) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and ASKS.search(ast.unparse(child.test)):
                continue
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                for default in [*child.args.defaults, *filter(None, child.args.kw_defaults)]:
                    yield from walk(ast.Expr(default))
                continue
            names = [alias.name for alias in child.names] if isinstance(child, ast.Import) else []
            names += [child.module or ""] if isinstance(child, ast.ImportFrom) and not child.level else []
            yield from (name for name in names if name.split(".")[0] in UNIX_MODULES)
            if isinstance(child, ast.Attribute) and UNIX_NAMES.fullmatch(ast.unparse(child)):
                yield ast.unparse(child)
            yield from walk(child)

    return walk(ast.parse(source if SUSPECT.search(source) else ""))


def test_no_module_needs_unix_to_be_imported() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): names
        for path in ROOT.glob("league_agents/**/*.py")
        if (names := list(needs_unix(path.read_text("utf-8"))))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import fcntl", "fcntl"),
        ("from resource import getrlimit", "resource"),
        ("import signal\nFATAL = (signal.SIGTERM, signal.SIGKILL)", "signal.SIGKILL"),
        ("import os\nclass A:\n    owner = os.getuid()", "os.getuid"),
        ("import signal\ndef f(number=signal.SIGHUP): ...", "signal.SIGHUP"),
        ("import sys\nif sys.platform != 'win32':\n    import fcntl", None),
        ("def f():\n    import fcntl", None),
        ("import signal\nENDS = (signal.SIGINT, signal.SIGTERM)", None),
    ],
)
def test_the_test_itself_sees_what_windows_lacks(source: str, name: str | None) -> None:
    assert list(needs_unix(source)) == ([] if name is None else [name])


def test_a_clone_is_set_up_without_bash_as_it_is_with_bash() -> None:
    spec = importlib.util.spec_from_file_location("dev", ROOT / "scripts" / "dev.py")
    assert spec is not None
    assert spec.loader is not None
    dev = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(dev)
    setup = (ROOT / "scripts" / "setup").read_text("utf-8")
    commands = dev.plan(["setup"], is_windows=True)
    assert len(commands) == 3
    for command in commands[1:]:
        assert Path(command[0]).parts == (".venv", "Scripts", "python")
        assert [word for word in command[3:] if word.startswith("--") and word not in setup] == []
    for words in (["test", "-k", "x"], ["docs"]):
        assert all(command[0].endswith("python") for command in dev.plan(words, is_windows=False))
    assert dev.plan(["test", "-k", "x"], is_windows=False)[-1][-2:] == ["-k", "x"]
    assert dev.main(["nonsense"]) == 2
