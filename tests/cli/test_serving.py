"""`p2c serve`: what it refuses before it starts, in one line."""

from __future__ import annotations

import socket
import sys
from typing import TYPE_CHECKING

import pytest

from p2c.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "a token is needed"),
        (["--token", "short"], "at least 16 characters"),
        (["nowhere.toml"], "nowhere.toml: cannot be read"),
        (["--api", "nowhere"], "nowhere: no such folder; expected one that p2c fit made"),
        (["--api", "."], ".: an empty or a project's folder; expected one that p2c fit made"),
        (["--rows", "people.csv"], "a problem's file first"),
        (["--port", "0"], "--port"),
    ],
)
def test_what_cannot_be_served_is_one_line_and_exit_code_2(
    arguments: list[str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("P2C_TOKEN", raising=False)
    monkeypatch.setattr(sys, "argv", ["p2c", "serve", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    shown = capsys.readouterr()
    assert shown.out == "", "an address is not shown before it answers"
    error = shown.err.strip()
    assert words in error
    assert "\n" not in error


def test_a_port_in_use_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(sys, "argv", ["p2c", "serve", "--port", str(port)])
        with pytest.raises(SystemExit) as left:
            main()
    assert left.value.code == 2
    assert capsys.readouterr().err.strip() == f"127.0.0.1:{port}: someone listens there already"
