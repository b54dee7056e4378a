"""Command line: `python -m p2c_verify PROBLEM ROW PLAN CERTIFICATE`."""

from __future__ import annotations

import sys
from pathlib import Path

from p2c_verify import VerifyError, verify
from p2c_verify.problem import parse


def main(arguments: list[str]) -> int:
    """Verify four files and return an exit code.

    It is 0 if the claim is verified, 1 if not, 2 if a file cannot be read.
    """
    if len(arguments) != 4:
        print("usage: python -m p2c_verify PROBLEM ROW PLAN CERTIFICATE", file=sys.stderr)
        return 2
    try:
        texts = [Path(name).read_text(encoding="utf-8") for name in arguments]
        print(verify(*map(parse, texts)))
    except (OSError, ValueError, VerifyError) as error:
        print(f"not verified: {error}", file=sys.stderr)
        return 1 if isinstance(error, VerifyError) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
