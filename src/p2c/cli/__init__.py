"""The command line: read the request, call one function, show the result. One file for each group of commands.

Exit codes: 0 found or already there, 1 no way (or gave up, or faults found), 2 bad input.
"""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command that the program was called with, and end with its exit code."""
    try:
        gc.disable()  # nothing of what is loaded is ever let go
        from p2c.cli.app import run

        gc.freeze()
        gc.enable()
        code = run()
    except KeyboardInterrupt:
        code = 1
    gc.freeze()  # nor is anything looked through again at the end
    sys.exit(code)
