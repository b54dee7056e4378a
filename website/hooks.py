"""What mkdocs calls while it makes the site: generated pages come in, and links to files outside `docs` are led to pages."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from mkdocs.structure.files import File  # noqa: E402

from p2c._release import DISTRIBUTION, __version__  # noqa: E402
from website import gallery, reference  # noqa: E402

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

TAKEN = {
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "benchmarks/report/REPORT.md": "project/evaluation.md",
}
"""Pages of the repository that the site shows as they are, and where."""
EVALUATION = TAKEN["benchmarks/report/REPORT.md"]
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s]+)\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are generated, and those that stand elsewhere in the repository."""
    pages = {
        "reference/problem.md": reference.problem_page,
        "reference/commands.md": reference.commands_page,
        "reference/python.md": reference.python_page,
        "reference/http.md": reference.http_page,
        "reference/plan-json.md": reference.plan_page,
        "gallery/index.md": gallery.gallery_page,
    }
    made = {place: make() for place, make in pages.items()}
    made |= {place: (ROOT / path).read_text(encoding="utf-8") for path, place in TAKEN.items()}
    made[EVALUATION] = dated(made[EVALUATION], __version__)
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    for path in sorted((ROOT / "benchmarks/report").glob("*.svg")):
        files.append(File.generated(config, f"project/{path.name}", content=path.read_bytes()))
    for path in gallery.pictures():
        files.append(File.generated(config, f"gallery/{path.name}", content=path.read_bytes()))
    return files


def dated(report: str, version: str) -> str:
    """Return an evaluation with a warning below its title where an earlier version of p2c was measured."""
    found = re.search(rf"\b(?:p2c|{DISTRIBUTION}) (\d+(?:\.\d+)+)", report)
    if found is None or found[1] == version:
        return report
    title, _, rest = report.partition("\n")
    return f"{title}\n\n{EARLIER.format(then=found[1], now=version)}\n{rest}"


EARLIER = """!!! warning "Measured with p2c {then}"
    This is the site of p2c {now}. What is said here of rules holds; "p2c with the model" only asked the model then. It is now
    [read into the search](../learning.md#models-that-are-read), so that plans are proved against it and found many times faster."""


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to the repository's files to the site's pages; one to a file of code becomes its name."""
    place = Path(page.file.src_uri)
    written = {there: Path(here) for here, there in TAKEN.items()}
    source = written.get(page.file.src_uri, Path("docs") / place)

    def lead(found: re.Match[str]) -> str:
        path, _, anchor = found[1].partition("#")
        target = _normal(source.parent / path)
        if target in TAKEN:
            there = Path(TAKEN[target])
        elif target.startswith("docs/"):
            there = Path(target).relative_to("docs")
        elif source.parent == Path("benchmarks/report") and target.endswith(".svg"):
            there = Path("project") / Path(target).name
        else:
            return f"]{OUTSIDE}"
        up = "../" * (len(place.parts) - 1)
        return f"]({up}{there.as_posix()}{'#' if anchor else ''}{anchor})"

    shown = LINK.sub(lead, markdown)
    return re.sub(r"\[([^\]]*)\]" + re.escape(OUTSIDE), r"\1", shown)


OUTSIDE = "(outside)"


def _normal(path: Path) -> str:
    """Return a relative path without the steps back."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part not in (".", ".."):
            parts.append(part)
    return "/".join(parts)
