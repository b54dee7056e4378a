"""The paper's Adult: what changes by itself when somebody marries.

Six causal rules say what follows from what: nobody becomes a husband without being married. A plan that set one without the
other would describe nobody.
"""

from pathlib import Path

import p2c

problem = p2c.Problem.example("adult")
for name, row in p2c.datasets.rows("adult").items():
    plan = problem.plan(row)
    print(f"{name}: {plan.status}")
    for action in plan.to_frame().itertuples():
        print(f"    {action.kind}: {action.feature} to {action.to}")

Path("02_paper_adult.svg").write_text(problem.to_svg(), encoding="utf-8")
