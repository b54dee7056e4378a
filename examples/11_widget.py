"""Turn knobs in a notebook and plan again.

`problem.widget(row)` as the last line of a cell shows a slider, a list or a field for each value of the person, beside it what
they cannot change and their own limits, and below them the plan, made anew at each turn. Here the script turns the knobs.
"""

from pathlib import Path

import p2c

loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
widget = loan.widget(john)
print(widget.plan)

widget.row = {**widget.row, "bank_balance": 58_000}
print(widget.plan)
Path("11_widget.svg").write_text(widget.plan.to_svg(), encoding="utf-8")

widget.restrict = {"debt": {"action": "fixed"}}
print(widget.plan)

widget.row = {**widget.row, "credit_score": 640}
widget.restrict = {"bank_balance": {"max": 59_000}}
print(widget.plan)
