"""The gallery: each example of `examples/` with what it says of itself, its pictures, its output and its code.

`python -m website.gallery` runs all of them and keeps what they print and draw beside them.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def gallery_page() -> str:
    """Return the page of all examples, in the order of their names."""
    parts = [
        "# Gallery",
        "Each example is a short script in `examples/`, run as it stands; what it prints is compared with what stands here.",
    ]
    for path in scripts():
        parts += _example(path)
    return "\n\n".join(parts)


def scripts() -> list[Path]:
    """Return the examples in the order in which they are shown."""
    return sorted(EXAMPLES.glob("[0-9]*.py"))


def run(script: Path, folder: Path) -> dict[str, str]:
    """Run an example in a folder; return what it printed and the pictures that it drew, by the names of their files."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    drawn = {each.name: each.read_text(encoding="utf-8") for each in folder.glob("*.svg")}
    return {f"{script.stem}.txt": done.stdout, **drawn}


def pictures() -> list[Path]:
    """Return the pictures that examples have drawn."""
    return sorted(EXAMPLES.glob("*.svg"))


def _example(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    title, _, about = (ast.get_docstring(tree) or path.stem).partition("\n")
    code = text.split('"""', 2)[2].strip()
    shown = [
        f"![{title}](../gallery/{each.name})"
        for each in pictures()
        if each.stem.startswith(path.stem)
    ]
    output = path.with_suffix(".txt").read_text(encoding="utf-8").rstrip()
    return [
        f"## {title.rstrip('.')}",
        about.strip(),
        *shown,
        f"```text\n{output}\n```",
        f'??? note "The script: `examples/{path.name}`"\n\n' + _indented(f"```python\n{code}\n```"),
    ]


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())


if __name__ == "__main__":
    for example in scripts():
        with tempfile.TemporaryDirectory() as place:
            for name, text in run(example, Path(place)).items():
                (EXAMPLES / name).write_text(text, encoding="utf-8")
