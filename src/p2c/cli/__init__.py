"""The command line: read the request, call one function, show the result. One file for each group of commands.

Exit codes: 0 found or already there, 1 no way (or gave up, or faults found), 2 bad input.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the program was called with, and end with its exit code."""
    from p2c.cli.app import run

    sys.exit(run())
