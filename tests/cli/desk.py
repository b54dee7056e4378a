"""The program run in this process, in a folder with the loan and its people."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from p2c._spec.toml import problem_to_toml
from p2c.cli import main
from tests.loan import JOHN, LOAN

if TYPE_CHECKING:
    from pathlib import Path

STUCK = JOHN | {"debt": 0}
RICH = {"age": 31, "debt": 0, "bank_balance": 70000, "credit_score": 700}


class Shown(NamedTuple):
    """What a run of the program left behind."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        assert self.err == ""
        return json.loads(self.out)


class Desk:
    """A folder with the loan and its people, and a way to run the program in this process."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch
    ) -> None:
        self.folder = folder
        self._capsys = capsys
        self._patch = patch
        self.loan = self.write("loan.toml", problem_to_toml(LOAN))
        self.john = self.write("john.json", json.dumps(JOHN))

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def row(self, values: dict[str, Any]) -> Path:
        return self.write("row.json", json.dumps(values))

    def run(self, *arguments: object) -> Shown:
        self._patch.setattr(sys, "argv", ["p2c", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = self._capsys.readouterr()
        assert isinstance(left.value.code, int | None)
        return Shown(left.value.code or 0, out, err)

    def refuses(self, *arguments: object) -> str:
        """Return the one line with which the program turns bad input down."""
        shown = self.run(*arguments)
        assert shown.code == 2, shown
        assert shown.out == ""
        assert "Traceback" not in shown.err
        (line,) = shown.err.splitlines()
        return line


def process(*arguments: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run the program in a process of its own."""
    command = [sys.executable, "-c", "from p2c.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, timeout=300, **options)
