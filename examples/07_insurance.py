"""Insurance, written from scratch: from a refused policy to an accepted one.

A house is refused for its roof and for water. The insurer's score of the house is nothing that an owner sets: it follows from what
was done to the house.
"""

from pathlib import Path

import p2c

problem = p2c.Problem.from_dict(
    {
        "name": "insurance",
        "goal": "insured(X)",
        "rules": """
            insured(X) :- grade(X,G), G>='fair', not flooded(X).
            flooded(X) :- zone(X,'river'), backflow_valve(X,'no').
            grade(X,G) :- roof_age(X,N), N=<10, wiring(X,'new'), G>='good'.
            grade(X,'fair') :- roof_age(X,N), N=<25, N>10.
            grade(X,'fair') :- roof_age(X,N), N=<10, wiring(X,'old').
        """,
        "features": {
            "zone": {"type": "category", "values": ["hill", "river"], "action": "fixed"},
            "roof_age": {"type": "int", "min": 0, "max": 80, "action": "down", "unit": "years"},
            "wiring": {"type": "category", "values": ["old", "new"], "weight": 0.5},
            "backflow_valve": {"type": "category", "values": ["no", "yes"], "weight": 0.1},
            "grade": {"type": "ordinal", "values": ["poor", "fair", "good", "excellent"]},
        },
    }
)
house = {"zone": "river", "roof_age": 40, "wiring": "old", "backflow_valve": "no", "grade": "poor"}
print(problem.why(house).to_text())
for plan in problem.nearest(house, k=3, distinct="cells"):
    print(plan)

Path("07_insurance.svg").write_text(problem.plan(house).to_svg(), encoding="utf-8")
