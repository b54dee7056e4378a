"""Draw the pictures of the documentation again: python docs/pictures/make.py."""

from __future__ import annotations

import tomllib
from pathlib import Path

from p2c import Problem, datasets

FOLDER = Path(__file__).parent


def pictures() -> dict[str, str]:
    """Return each picture by the name of its file."""
    loan, adult = (
        Problem.from_dict(tomllib.loads(datasets.problem_text(name))) for name in ("loan", "adult")
    )
    john = datasets.rows("loan")["john"]
    return {"loan-plan.svg": loan.plan(john).to_svg(), "adult-graph.svg": adult.to_svg()}


if __name__ == "__main__":
    for file, svg in pictures().items():
        (FOLDER / file).write_text(f"{svg}\n", encoding="utf-8")
