"""The command line, with one file for each group of commands.

A command reads its arguments, calls one function and shows the result.

Exit codes: 0 found or already, 1 infeasible (or gave up, or faults), 2 bad input.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the program was called with, and end with its exit code."""
    from p2c.cli.app import run

    sys.exit(run())
