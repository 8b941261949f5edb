"""Find a user's class by name: ``module:Class``.

The class must have the four methods of its role and a constructor without required arguments. It need not inherit from
this package's classes.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import signal
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, TypeVar
from zlib import adler32, crc32

from league_agents.agents.base import PLAYER_CALLBACKS, REFEREE_CALLBACKS
from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.printable import line_of

T = TypeVar("T")

CALLBACKS = {"referee": REFEREE_CALLBACKS, "player": PLAYER_CALLBACKS}


def load_class(spec: str) -> type:
    """Return the class named ``module:Class`` or ``path/to/file.py:Class``. Modules are searched for in the working
    directory first.

    Raises ``ConfigError``, which names what is missing and what to write instead.
    """
    module_name, colon, class_name = spec.rpartition(":")
    if not colon or not module_name or not class_name.isidentifier():
        raise ConfigError(spec, "is no agent; write module:Class, for example my_player:MyPlayerAI")
    module = _module(spec, module_name)
    found = getattr(module, class_name, None)
    if inspect.isclass(found):
        return found
    if found is not None:
        raise ConfigError(
            spec, f"{shortened(class_name)} is a {type(found).__name__}, not a class; name the class itself"
        )
    from difflib import get_close_matches

    own = [
        name for name, value in vars(module).items() if inspect.isclass(value) and value.__module__ == module.__name__
    ]
    near = get_close_matches(class_name, own, n=1) or [*own[:3], *(["…"] if len(own) > 3 else [])]
    hint = f"; it has {', '.join(near)}" if near else "; it defines no class"
    raise ConfigError(spec, f"module {shortened(module_name)} has no class {shortened(class_name)}{hint}")


def _module(spec: str, name: str) -> ModuleType:
    if name.endswith(".py"):
        return _module_at(spec, Path(name))
    if "/" in name or "\\" in name or name.startswith("."):
        raise ConfigError(spec, _no_python_file(name, spec.rpartition(":")[2]))
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    found = _attempt(lambda: importlib.import_module(name))
    if not isinstance(found, BaseException):
        return found
    found_spec = importlib.util.find_spec(name) if _is_relative_import(found) else None
    if found_spec is not None and found_spec.origin is not None:
        raise _relative_import(spec, Path(found_spec.origin))
    missing = found.name if isinstance(found, ModuleNotFoundError) else None
    if missing is None:
        raise _failed_import(spec, name, found)
    if name == missing or name.startswith(f"{missing}."):
        raise ConfigError(
            spec,
            f"there is no module {shortened(name)} in {here} or among the installed ones; start where it lies",
        )
    raise ConfigError(spec, f"module {shortened(name)} needs {shortened(missing)}, which is not installed")


def _no_python_file(name: str, class_name: str) -> str:
    """Return the error text for a path that does not end in ``.py``."""
    path = Path(name)
    with_ending = path.with_name(f"{path.name}.py") if path.name else path
    if path.name and (with_ending.is_file() or not path.is_dir()):
        return f"names a file without its ending; write {shortened(str(with_ending))}:{shortened(class_name)}"
    files = sorted(each.name for each in path.glob("*.py") if each.name != "__init__.py") if path.is_dir() else []
    if not files:
        return "names a folder; name a Python file, as my_player.py:MyPlayerAI"
    shown = ", ".join(f"{shortened(str(path / file))}:{shortened(class_name)}" for file in files[:3])
    return f"names a folder; name a file in it, as {shown}"


def _module_at(spec: str, path: Path) -> ModuleType:
    named = path
    try:
        is_file, path = path.is_file(), path.resolve()
    except (OSError, RuntimeError):  # too long for a name, or a link that leads to itself
        is_file = False
    if not is_file:
        raise ConfigError(spec, f"there is no file {shortened(str(named))}")
    # A unique name: a user's random.py must not replace the library's module.
    name = f"league_agents_user_{crc32(str(path).encode()):08x}{adler32(str(path).encode()):08x}"
    if name in sys.modules:
        return sys.modules[name]
    module_spec = importlib.util.spec_from_file_location(name, path)
    if module_spec is None or module_spec.loader is None:
        raise ConfigError(spec, f"{path} cannot be imported")
    module = importlib.util.module_from_spec(module_spec)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # the agent may import modules from its own folder
    sys.modules[name] = module
    run, is_loaded = module_spec.loader.exec_module, False
    try:
        error = _attempt(lambda: run(module))
        is_loaded = error is None
    finally:
        if not is_loaded:
            sys.modules.pop(name, None)
    if error is not None:
        raise _relative_import(spec, path) if _is_relative_import(error) else _failed_import(spec, str(path), error)
    return module


def _is_relative_import(error: BaseException) -> bool:
    # Making the error's text may run the user's code.
    return type(error) is ImportError and "relative import with no known parent" in line_of(error)


def _relative_import(spec: str, path: Path) -> ConfigError:
    """Return the error for a file of a package, which must be named as a module."""
    folder = path.parent.parent
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        folder = folder.parent
    module = ".".join(path.relative_to(folder).with_suffix("").parts)
    start = "" if folder == Path.cwd() else f"start in {shortened(str(folder))} and "
    named = f"{module}:{spec.rpartition(':')[2]}"
    return ConfigError(spec, f"imports from its own package, as whose part it has to be named; {start}write {named}")


def _attempt(run: Callable[[], T]) -> T | BaseException:
    """Return the result of running a user's module, or the exception of any type that it raised.

    Raises ``KeyboardInterrupt`` if a person pressed Ctrl-C meanwhile, even if the module caught it, and only then: a
    module that raises it by itself has failed like any other.
    """
    with _Keyboard() as keyboard:
        try:
            found: T | BaseException = run()
        except BaseException as error:
            found = error
    if keyboard.has_interrupted:
        raise KeyboardInterrupt
    return found


class _Keyboard:
    """Records whether Ctrl-C was pressed: only the signal handler can tell the source of ``KeyboardInterrupt``."""

    def __init__(self) -> None:
        self.has_interrupted = False
        self._handler: Callable[[int, FrameType | None], object] | None = None

    def __enter__(self) -> _Keyboard:
        # Python runs signal handlers on the main thread only, so no other thread is interrupted.
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, self._pressed)
        return self

    def __exit__(self, *_: object) -> None:
        # Do not replace a handler that the module has set itself.
        if self._handler is not None and signal.getsignal(signal.SIGINT) == self._pressed:
            signal.signal(signal.SIGINT, self._handler)

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        assert self._handler is not None
        try:
            self._handler(number, frame)
        except KeyboardInterrupt:
            self.has_interrupted = True
            raise


def _failed_import(spec: str, name: str, error: BaseException) -> ConfigError:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f", line {trace.tb_lineno} of {shortened(trace.tb_frame.f_code.co_filename)}" if trace is not None else ""
    if isinstance(error, SyntaxError) and error.filename is not None:
        where = f", line {error.lineno} of {shortened(error.filename)}"
    return ConfigError(spec, f"{shortened(name)} cannot be imported: {line_of(error)}{where}")


def missing_callbacks(agent_class: type, role: str) -> list[str]:
    """Return the methods of the role that the class lacks."""
    return [name for name in CALLBACKS[role] if not callable(getattr(agent_class, name, None))]


def role_of(agent_class: type) -> str:
    """Return ``referee`` or ``player``, by the methods that the class has.

    Raises ``ConfigError`` if it has the four methods of neither.
    """
    missing = {role: missing_callbacks(agent_class, role) for role in CALLBACKS}
    fitting = [role for role, names in missing.items() if not names]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise ConfigError(agent_class.__name__, "has the callbacks of both roles; write one class for each role")
    role = min(missing, key=lambda name: len(missing[name]))
    raise ConfigError(
        agent_class.__name__, f"is no agent: as a {role} it lacks {', '.join(missing[role])}; add these methods"
    )


def part_of_ours(reference: str) -> Any:
    """Return the object named ``module:name`` in this package or in a game's package."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


ARENA = "arena"
"""The role of a class that plays in the arena, by ``act`` or by methods that its game accepts instead."""

PROTOCOL = "protocol"
"""The role of an interaction protocol, which is composed of agents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundClass:
    """A user's class, found and checked."""

    role: str
    """``referee``, ``player``, ``arena`` or ``protocol``."""

    source: str | None
    """The source file of the class; ``None`` if it has none."""

    make: Callable[[], object]
    """Makes the object to call."""


def load_for(spec: str, roles: Collection[str], adapter: Sequence[str] = ()) -> FoundClass:
    """Return the class of ``spec`` with its role: one of the league's, or the arena.

    ``adapter`` begins with a ``module:function`` of this package. The function is called with the class and the other
    texts, and returns the maker to use in place of a class of the arena, or ``None`` for another class; for the role
    ``PROTOCOL``, in place of any class. Raises ``ConfigError`` as ``load_agent`` and ``role_of`` do.
    """
    if PROTOCOL in roles:
        protocol_class = load_class(spec)
        make = part_of_ours(adapter[0])(protocol_class, *adapter[1:])
        return FoundClass(role=PROTOCOL, source=_source_of(protocol_class), make=make)
    if adapter:
        agent_class = load_class(spec)
        make = part_of_ours(adapter[0])(agent_class, *adapter[1:])
        if make is not None:
            _check_constructor(spec, agent_class)
            return FoundClass(role=ARENA, source=_source_of(agent_class), make=make)
        if not roles:
            raise ConfigError(spec, "is no agent of the arena; give it a method act(view, legal, deadline)")
    role = next(iter(roles)) if len(roles) == 1 else role_of(load_class(spec))
    agent_class = load_agent(spec, role)
    return FoundClass(role=role, source=_source_of(agent_class), make=agent_class)


def _source_of(agent_class: type) -> str | None:
    """Return the source file of the class; ``None`` if it has none."""
    try:
        return inspect.getsourcefile(agent_class)
    except (OSError, TypeError):
        return None


def load_agent(spec: str, role: str) -> type:
    """Return the class of ``spec``, checked for the role.

    Raises ``ConfigError`` if a method is missing or abstract, or the constructor requires arguments.
    """
    agent_class = load_class(spec)
    missing = missing_callbacks(agent_class, role)
    if missing:
        raise ConfigError(spec, f"lacks the {role}'s {', '.join(missing)}; add these methods")
    if inspect.isabstract(agent_class):
        names = ", ".join(sorted(getattr(agent_class, "__abstractmethods__", ())))
        raise ConfigError(spec, f"does not implement {names}; add these methods")
    _check_constructor(spec, agent_class)
    return agent_class


def _check_constructor(spec: str, agent_class: type) -> None:
    try:
        signature = inspect.signature(agent_class)
        signature.bind()
    except TypeError as error:
        raise ConfigError(spec, f"must be made without arguments, but its constructor says: {error}") from None
    except ValueError:
        pass  # a class of an extension module may have no signature: making the instance will show
