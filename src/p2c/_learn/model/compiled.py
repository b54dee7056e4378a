"""Functions over arrays that numba compiles when they are first called, and keeps for the next process.

They are written in plain loops, for every function of numpy that they call would be compiled as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from numba import njit

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = TypeVar("Function", bound=Callable[..., object])


NEVER = 1 << 54
"""The price of what cannot be reached; the prices of all features together stay below it."""


def compiled(function: Function) -> Function:
    """Return a function that is compiled when it is first called."""
    try:
        return _numba(function, cache=True, nogil=True)
    except RuntimeError:
        # Nothing may be written beside the module nor in the user's own directories: the next process compiles it again.
        return _numba(function, nogil=True)


def within_compiled(function: Function) -> Function:
    """Return a function that only compiled ones call: it is compiled and kept with them, and takes no values from outside."""
    return _numba(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _numba(function: Function, **options: Any) -> Function:
    decorate: Any = njit
    found: Function = decorate(**options)(function)
    return found
