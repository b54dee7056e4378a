"""A plan in a letter, in English and German.

Reasons are facts about the person, what is told to do is what was proved, and what would not be enough is played, not guessed.
"""

from pathlib import Path

import p2c

problem, rows = p2c.Problem.example("loan"), p2c.datasets.rows("loan")
plan = problem.plan(rows["john"])
print(plan.explain())
print("\n" + "-" * 72 + "\n")
print(plan.explain("de"))
Path("letter.html").write_bytes(problem.report(plan, format="html", language="de"))
Path("10_letter.svg").write_text(plan.to_svg(language="de"), encoding="utf-8")
