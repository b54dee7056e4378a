"""The program `p2c`, also `python -m p2c`."""

from __future__ import annotations

import gc
import sys


def program() -> None:
    """Run the command that the program was called with, and end with its exit code."""
    # Most of what a command makes lasts until its end: rubbish is rare, and looking for it often is dear.
    gc.set_threshold(100_000, 50, 50)
    try:
        from p2c.cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)  # as of a command that is interrupted later
    finally:
        gc.freeze()  # nor need all be looked through at the end


if __name__ == "__main__":
    program()
