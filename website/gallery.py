"""The gallery: each example of `examples/` with what it says of itself, its pictures, its output and its code."""

from __future__ import annotations

import ast
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def gallery_page() -> str:
    """Return the page of all examples, in the order of their names."""
    parts = [
        "# Gallery",
        "Each example is a short script in `examples/`, run as it stands; what it prints is compared with what stands here.",
    ]
    for path in sorted(EXAMPLES.glob("[0-9]*.py")):
        parts += _example(path)
    return "\n\n".join(parts)


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
