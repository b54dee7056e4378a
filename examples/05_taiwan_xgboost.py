"""Credit cards in Taiwan: XGBoost, and causal rules that an expert approved.

`pay_0` and `pay_2` are by how many months somebody was late last month and the month before. Data suggest rules between them; an
expert says which of these are cause and effect, and only those are used. The data are a sample of 4,000 rows (CC BY 4.0, see `examples/data/LICENSE.md`).
"""

import sys
import tempfile
from pathlib import Path

import pandas as pd
import xgboost

import p2c

table = pd.read_csv(Path(sys.path[0]) / "data/taiwan-default-sample.csv.xz")
X = table[["limit_bal", "age", "pay_0", "pay_2", "bill_amt1", "pay_amt1"]]
model = xgboost.XGBClassifier(n_estimators=30, max_depth=3, n_jobs=1, random_state=0)
model.fit(X, table["will_default_next_month"] == 0)

late = X[["pay_0", "pay_2"]].clip(lower=-1).astype(int)
candidates = p2c.learn_causal_rules(late, targets=["pay_0"], cuts={"pay_0": [1]})
review = p2c.write_review(Path(tempfile.mkdtemp()) / "taiwan.review", candidates, features=late)
for number, candidate in enumerate(candidates, start=1):
    print(f"candidate {number}: {candidate.rule}  {candidate.evidence.support} rows")
    verdict = "approved" if number == 1 else "rejected"
    reason = (
        "who was on time the month before is on time"
        if number == 1
        else "being late once keeps nobody from paying"
    )
    review.decide(
        candidate.id, verdict, by="an expert", why=reason, law="if" if number == 1 else None
    )

problem = p2c.Problem.from_model(
    model,
    X,
    causal=review,
    name="taiwan",
    actions=dict.fromkeys(["age", "limit_bal", "bill_amt1", "pay_amt1"], "fixed"),
)
print(problem)
refused = X[~problem.predict(X)]
for place in range(4):
    print(problem.plan(refused.iloc[place], time_limit=20))

Path("05_taiwan_xgboost.svg").write_text(problem.plan(refused.iloc[2]).to_svg(), encoding="utf-8")
