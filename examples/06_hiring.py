"""Hiring, written from scratch: what an applicant can still do, and in what order.

Three things stand in the way, and each is reached by another road: a certificate follows from a course, references from
projects. A constraint says that nobody studies without free hours, so these come first.
"""

from pathlib import Path

import p2c

problem = p2c.Problem.from_dict(
    {
        "name": "hiring",
        "goal": "invited(X)",
        "rules": """
            invited(X) :- certificate(X,'yes'), references(X,N), N>=2, not overqualified(X).
            overqualified(X) :- degree(X,D), D>='doctorate', projects(X,N), N>8.
            certificate(X,'yes') :- course(X,'finished').
            references(X,N) :- projects(X,P), P>=3, N>=2.
            studied(X) :- course(X,C), C \\= 'none'.
            :- studied(X), hours_free(X,N), N<6.              % nobody studies without time
        """,
        "features": {
            "hours_free": {"type": "int", "min": 0, "max": 40, "unit": "hours a week"},
            "degree": {
                "type": "ordinal",
                "values": ["none", "bachelor", "master", "doctorate"],
                "action": "up",
            },
            "course": {
                "type": "category",
                "values": ["none", "started", "finished"],
                "moves": {"none": ["started"], "started": ["finished", "none"]},
                "action": "free",
            },
            "certificate": {"type": "category", "values": ["no", "yes"]},
            "projects": {"type": "int", "min": 0, "max": 20, "action": "up", "weight": 3},
            "references": {"type": "int", "min": 0, "max": 10},
        },
    }
)
ada = {
    "degree": "master",
    "course": "none",
    "certificate": "no",
    "projects": 1,
    "references": 0,
    "hours_free": 2,
}
plan = problem.plan(ada)
print(plan.to_frame()[["step", "kind", "feature", "from", "to"]].to_string(index=False))
print(problem.check(plan, prove=True))
print("without more time:", problem.plan(ada, restrict={"hours_free": "fixed"}))

Path("06_hiring.svg").write_text(plan.to_svg(), encoding="utf-8")
