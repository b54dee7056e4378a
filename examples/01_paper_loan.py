"""The paper's loan: pay the debt, the score follows, then save.

John is refused. His credit score cannot be set: it follows from having no debt. The plan has the order in which things are
done, and every state between them is possible.
"""

from pathlib import Path

import p2c

problem = p2c.Problem.example("loan")
for name, row in p2c.datasets.rows("loan").items():
    print(f"{name:13}", problem.plan(row))

plan = problem.plan(p2c.datasets.rows("loan")["john"])
Path("01_paper_loan.svg").write_text(plan.to_svg(), encoding="utf-8")
