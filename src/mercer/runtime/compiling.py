"""Functions compiled by Numba when they are first called, kept on disk, and compiled aside so that Ctrl-C is heard."""

from __future__ import annotations

import hashlib
import linecache
import os
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from mercer.runtime.threads import COMPILING, abandonable
from mercer.runtime.watch import Stopped


def jit(function: Callable[..., Any], *, cached: bool = True, inner: bool = False) -> Any:
    """``numba.njit`` that releases the GIL and caches on disk, or works without a cache where no folder can be
    written. ``inner``: only compiled functions call it, so that what unpacks Python's arguments need not be compiled;
    to call it from Python would crash.
    """
    import numba

    # fused multiply-add, and nothing that changes the order of sums or hides NaN; no door for callers in C, which would
    # be compiled too
    options = {"nogil": True, "fastmath": {"contract"}, "no_cfunc_wrapper": True, "no_cpython_wrapper": inner}
    try:
        dispatcher = numba.njit(cache=cached, **options)(function)
    except RuntimeError:  # "cannot cache function": a read-only installation and no writable home
        dispatcher = numba.njit(**options)(function)
    _dispatchers.append(dispatcher)
    return _compiling_aside(dispatcher)


_dispatchers: list[Any] = []  # all that ``jit`` has made: they know what they compiled, and where it is kept


def compilations() -> int:
    """How many functions this process has compiled, each once for each combination of types; not those that it found in
    the cache.
    """
    return sum(sum(each.stats.cache_misses.values()) for each in _dispatchers)


def cache_folders() -> tuple[Path, ...]:
    """The folders that hold the compiled code of functions called so far."""
    return tuple(
        sorted(
            {
                Path(each.stats.cache_path)
                for each in _dispatchers
                if each.signatures and each.stats.cache_path is not None
            }
        )
    )


def _compiling_aside(dispatcher: Any) -> Any:
    """The same, compiled on a thread of its own when it meets new types: seconds, in which Ctrl-C is heard and LLVM
    cannot swallow it.
    """
    # asked for by name whenever there is no compiled version for the arguments' types
    compile_for = dispatcher._compile_for_args
    dispatcher._compile_for_args = lambda *args, **options: abandonable(
        lambda: compile_for(*args, **options), COMPILING
    )
    return dispatcher


@cache
def compiled(loop: Callable[..., Any]) -> Any:
    """``jit`` of a plain function when it is first called for: importing its module does not import Numba."""
    return jit(loop)


def jit_source(name: str, source: str, *example: object) -> Any:
    """``jit`` of the function ``name`` defined by a text, compiled for ``example``'s types.

    The text is kept in the user's cache so that Numba can keep what it compiles; a cache that cannot be read back is
    passed over.
    """
    module = module_from_source(name, source)
    function = jit(getattr(module, name))
    try:
        function(*example)
    except Stopped:
        raise
    except Exception:  # whatever unpickling a damaged cache raises
        function = jit(getattr(module, name), cached=False)
        function(*example)
    return function


def module_from_source(name: str, source: str) -> ModuleType:
    """A module made of a text, which is kept as a file: Numba and Triton ask for the file of what they compile."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:24]
    module = ModuleType(f"mercer_generated_{name}_{digest}")
    # Numba looks the function's module up by name when it loads what it compiled earlier
    sys.modules[module.__name__] = module
    path = cache_folder() / f"{name}_{digest}.py"
    try:
        if not path.exists() or path.read_text() != source:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
            draft.write_text(source)
            draft.replace(path)  # whole or not at all, whoever else is writing it
    except OSError:
        path = Path("<mercer>")  # nowhere to write: Numba will say so, and jit then compiles for this process only
    # the text is given to whoever asks for the source of its functions, file or no file
    linecache.cache[str(path)] = (len(source), None, source.splitlines(keepends=True), str(path))
    exec(compile(source, str(path), "exec"), module.__dict__)
    return module


def cache_folder() -> Path:
    """Where generated code is kept: one folder per version of Mercer and of Numba, since either changes what is
    generated.
    """
    import numba

    import mercer

    base = (
        os.environ.get("LOCALAPPDATA")
        or os.environ.get("XDG_CACHE_HOME")
        or os.path.join(os.path.expanduser("~"), ".cache")
    )
    return Path(base) / "mercer" / f"{mercer.__version__}-numba{numba.__version__}"


def cache_places() -> list[tuple[Path, str]]:
    """Folders that must be writable for compiled code to be kept, each with the variable that sets another."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    variable = "LOCALAPPDATA" if os.environ.get("LOCALAPPDATA") else "XDG_CACHE_HOME"
    return [*([(Path(chosen), "NUMBA_CACHE_DIR")] if chosen else []), (cache_folder(), variable)]
