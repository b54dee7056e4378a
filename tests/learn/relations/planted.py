"""Generated tables with planted relations, and their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENDER = {
    "dti = debt / income",
    "utilisation = 100 * balance / credit_limit",
    "log_income = log(income)",
    "spending = rent + food + car + fun",
    "age_band = if(age < 25, 0, if(age < 40, 1, if(age < 60, 2, 3)))",
    "home: home_own, home_rent, home_free",
    ":- mean_delay(X,A), max_delay(X,B), A > B.",
}
SHOP = {
    "amount = quantity * unit_price",
    "net = gross - tax",
    "tenure_months = floor(tenure_days / 30)",
    "gross_again = gross",
    "colour_code = if(colour = 'green', 1, if(colour = 'red', 3, if(colour = 'grey', 4, 7)))",
}
CLINIC = {
    "height_squared = height * height",
    "bmi = weight / height_squared",
    "pulse_pressure = systolic - diastolic",
    "dose_g = dose_mg / 1000",
    "score = 2 * visits + 3 * frailty - 5",
    "age_months = 12 * age",
    "ward: ward_north, ward_east, ward_south",
    ":- missed_visits(X,A), visits(X,B), A > B.",
    "risk(X,'low') :- bmi(X,N), N<18.5.\n"
    "risk(X,'normal') :- bmi(X,N), N>=18.5, N<25.\n"
    "risk(X,'high') :- bmi(X,N), N>=25, N<30.\n"
    "risk(X,'very high') :- bmi(X,N), N>=30.",
}


def noise(count: int, rows: int, seed: int) -> pd.DataFrame:
    """Return unrelated columns, of four kinds in turn."""
    rng = np.random.default_rng(seed)
    kinds = (
        lambda: rng.normal(size=rows),
        lambda: rng.integers(0, 20, rows).astype(float),
        lambda: (rng.random(rows) < 0.3).astype(int),
        lambda: np.where(rng.random(rows) < 0.7, 0, np.round(rng.gamma(2, 50, rows))),
    )
    return pd.DataFrame({f"x{place}": kinds[place % 4]() for place in range(count)})


def lender(rows: int = 4_000, seed: int = 1) -> pd.DataFrame:
    """Return a lender's table: ratios, a sum, bins, a group and an order."""
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(
        {
            "income": np.round(np.exp(rng.normal(10.5, 0.6, rows))),
            "debt": np.round(np.exp(rng.normal(8.5, 1.2, rows))),
            "balance": np.round(np.exp(rng.normal(7.5, 1.0, rows))),
            "credit_limit": np.round(np.exp(rng.normal(9, 0.5, rows)), -2) + 500,
            "rent": np.round(rng.gamma(3, 300, rows)),
            "food": np.round(rng.gamma(3, 120, rows)),
            "car": np.round(rng.gamma(1, 200, rows)),
            "fun": np.round(rng.gamma(2, 80, rows)),
            "age": rng.integers(18, 80, rows),
            "max_delay": rng.poisson(2, rows) + rng.poisson(2, rows),
        }
    )
    made["dti"] = (made["debt"] / made["income"]).round(3)
    made["utilisation"] = (100 * made["balance"] / made["credit_limit"]).round()
    made["log_income"] = np.log(made["income"])
    made["spending"] = made[["rent", "food", "car", "fun"]].sum(axis=1)
    made["age_band"] = np.digitize(made["age"], [25, 40, 60])
    delay = np.floor(made["max_delay"] * rng.random(rows) + 0.3 * rng.random(rows))
    made["mean_delay"] = np.minimum(delay, made["max_delay"])
    home = rng.integers(0, 3, rows)
    for place, name in enumerate(("own", "rent", "free")):
        made[f"home_{name}"] = (home == place).astype(int)
    return made.join(noise(36, rows, seed + 1))


def shop(rows: int = 4_000, seed: int = 2) -> pd.DataFrame:
    """Return a shop's table with 2% of wrong cells, and missing ones."""
    rng = np.random.default_rng(seed)
    colours = np.array(["red", "green", "blue", "grey"])[rng.integers(0, 4, rows)]
    made = pd.DataFrame(
        {
            "quantity": rng.integers(1, 60, rows).astype(float),
            "unit_price": np.round(rng.gamma(3, 10, rows), 2) + 0.5,
            "gross": np.round(rng.gamma(5, 800, rows), 2),
            "tenure_days": rng.integers(10, 8_000, rows).astype(float),
            "colour": colours,
        }
    )
    made["tax"] = (made["gross"] * rng.uniform(0.1, 0.4, rows)).round(2)
    made["net"] = (made["gross"] - made["tax"]).round(2)
    made["amount"] = (made["quantity"] * made["unit_price"]).round(2)
    made["tenure_months"] = np.floor(made["tenure_days"] / 30)
    made["gross_again"] = made["gross"]
    made["colour_code"] = made["colour"].map({"red": 3.0, "green": 1.0, "blue": 7.0, "grey": 4.0})
    for name in ("amount", "net", "tenure_months", "colour_code", "gross_again"):
        wrong = rng.random(rows) < 0.02
        made.loc[wrong, name] = _shuffled(made[name].to_numpy(), rng)[wrong]
    for name in ("quantity", "tax", "gross"):
        made.loc[rng.random(rows) < 0.05, name] = np.nan
    return made.join(noise(12, rows, seed + 1))


def clinic(rows: int = 3_000, seed: int = 3) -> pd.DataFrame:
    """Return a clinic's table: conversions, a weighted sum, named bins."""
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(
        {
            "height": np.round(rng.normal(1.72, 0.1, rows), 2),
            "weight": np.round(rng.normal(75, 14, rows), 1),
            "systolic": np.round(rng.normal(130, 15, rows)),
            "diastolic": np.round(rng.normal(82, 10, rows)),
            "dose_mg": rng.integers(1, 40, rows) * 25.0,
            "visits": rng.poisson(6, rows).astype(float),
            "frailty": rng.integers(0, 30, rows).astype(float),
            "age": rng.integers(20, 90, rows),
        }
    )
    made["height_squared"] = made["height"] ** 2
    made["bmi"] = (made["weight"] / made["height_squared"]).round(1)
    made["pulse_pressure"] = made["systolic"] - made["diastolic"]
    made["dose_g"] = made["dose_mg"] / 1_000
    made["score"] = 2 * made["visits"] + 3 * made["frailty"] - 5
    made["age_months"] = 12 * made["age"]
    made["missed_visits"] = np.minimum(rng.poisson(3, rows), made["visits"])
    cuts = [made["bmi"] < 18.5, made["bmi"] < 25, made["bmi"] < 30]
    made["risk"] = np.select(cuts, ["low", "normal", "high"], "very high")
    ward = rng.integers(0, 4, rows)
    for place, name in enumerate(("north", "east", "south")):
        made[f"ward_{name}"] = ward == place
    laboratory = {f"lab{place}": np.round(rng.lognormal(1, 0.4, rows), 2) for place in range(15)}
    return made.join(pd.DataFrame(laboratory))


def _shuffled(values: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    mixed: NDArray[np.float64] = rng.permutation(values)
    return mixed
