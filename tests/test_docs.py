"""Every command that the documentation prints works, in the order of its page and from an empty folder.

Before a block of shell, a comment of HTML may say why it is `not run: …`, or what is `typed` into it, a line each. A
shell comment may say its `exit code`. A block of Python that begins with the name of a file is saved as that.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"(?:<!-- ([^>]*?)\s*-->\n)?^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SAVED = re.compile(r"# (\w+\.py)\n")
REASONS = {
    "it installs",
    "it starts a server",
    "it needs a cluster",
    "it needs podman and systemd",
}


class Block(NamedTuple):
    """What stands between two fences, its language, and the comment before it."""

    note: str
    language: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    for found in BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield Block(found[1] or "", found[2], found[3])


def run(block: Block, folder: Path) -> None:
    """Run a block as a reader would, who has installed the package and is in that folder."""
    typed = block.note.removeprefix("typed\n") if block.note.startswith("typed") else ""
    expected = re.search(r"# exit code (\d)", block.text)
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", block.text],
        cwd=folder,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == int(expected[1] if expected else 0), f"{block.text}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_works_in_an_empty_folder(page: Path, tmp_path: Path) -> None:
    for block in blocks(page):
        if saved := SAVED.match(block.text):
            (tmp_path / saved[1]).write_text(block.text, encoding="utf-8")
        elif block.language == "sh" and not block.note.startswith("not run: "):
            run(block, tmp_path)


def test_what_is_not_run_changes_the_machine_or_needs_another() -> None:
    notes = [each.note for page in PAGES for each in blocks(page) if each.note]
    reasons = {note.removeprefix("not run: ") for note in notes if not note.startswith("typed\n")}
    assert reasons == REASONS


def test_every_block_of_python_is_run() -> None:
    texts = [each.text for page in PAGES for each in blocks(page) if each.language == "python"]
    assert [each for each in texts if not (each.startswith(">>> ") or SAVED.match(each))] == []
