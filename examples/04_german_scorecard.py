"""German credit with a scorecard: points in a table, read as they stand.

A scorecard is a sum of points. As a CSV file it needs no library; its plans are proved against it.
"""

from pathlib import Path

import p2c

CARD = """feature,from,to,points
,600,,400
checking_account_status,no_checking_account,,120
checking_account_status,at_least_200_dm,,80
checking_account_status,,,20
duration_months,,12,90
duration_months,12,24,60
duration_months,24,,10
credit_amount,,2000,60
credit_amount,2000,8000,40
credit_amount,8000,,0
age,,30,10
age,30,,30
"""
Path("card.csv").write_text(CARD, encoding="utf-8")
names = ["checking_account_status", "duration_months", "credit_amount", "age"]
X = p2c.datasets.load_frame("german")[names]
problem = p2c.Problem.from_model(
    Path("card.csv"),
    X,
    name="german",
    actions={"age": "fixed", "checking_account_status": "fixed"},
)
refused = X[~problem.predict(X)]
print(problem, f"{len(refused)} of {len(X)} refused", sep="\n")
answers = problem.plan_many(refused.head(100))
print(answers["status"].value_counts().to_dict(), "proved:", int(answers["optimal"].sum()))
answer = problem.plan(refused.iloc[answers["status"].tolist().index("found")])
print(answer)
print(
    "points:",
    " then ".join(f"{score:.0f}" for score, _ in answer.model.scores),
    "of",
    f"{answer.model.scores[-1][1]:.0f}",
)

Path("04_german_scorecard.svg").write_text(answer.to_svg(), encoding="utf-8")
