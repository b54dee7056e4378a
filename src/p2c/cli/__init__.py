"""The command line: read the request, call one function, show the result. One file for each group of commands.

Exit codes: 0 found or already there, 1 no way (or gave up, or faults found), 2 bad input.
"""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command that the program was called with, and end with its exit code."""
    try:
        # Most of what a command makes lasts until its end: rubbish is rare, and looking for it often is dear.
        gc.set_threshold(100_000, 50, 50)
        from p2c.cli.app import run

        code = run()
    except KeyboardInterrupt:
        code = 1
    gc.freeze()  # nor need all be looked through at the end
    sys.exit(code)
