"""Plans against a tree model beside causal rules and constraints: the share proved, and the time beside that without rules.

python -m benchmarks.models_with_rules --sdists DIR              50 people of HELOC, gradient boosting 100x3
python -m benchmarks.models_with_rules --sdists DIR --rows 200   more people

HELOC is in the source archive of `reachml` 0.2.0a1 (`pip download --no-deps --no-binary :all:` into DIR). All of its 23 features
can be set, except those with causal rules. The model is trained on four fifths of the rows; the people are refused ones of the
rest, drawn at random by `--seed`, and the same for every kind. Times are processor time from the row to the plan, everything
else warm. Ratios are those of the same person's times with and without rules.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.beside_treecf import boosted, heloc
from benchmarks.clock import processor_time
from benchmarks.record import recorded
from p2c.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

SECONDS = 4.0
SOON = 1.0
"""Seconds within which a plan is to be proved."""

CAUSES = (
    "externalriskestimate(X,V) :- netfractionrevolvingburden(X,N), N=<20, V>=70.",
    "percenttradesneverdelq(X,V) :- numtrades60ever2derogpubrec(X,N), N=<0, V>=95.",
    "numsatisfactorytrades(X,V) :- numtotaltrades(X,N), N>=20, V>=18.",
    "numinqlast6mexcl7days(X,V) :- numinqlast6m(X,N), N=<1, V=<1.",
    "numrevolvingtradeswbalance(X,V) :- netfractionrevolvingburden(X,N), N=<10, V=<3.",
    "netfractioninstallburden(X,V) :- numinstalltradeswbalance(X,N), N=<1, V=<40.",
    "percenttradeswbalance(X,V) :- numbank2natltradeswhighutilization(X,N), N=<0, V=<60.",
    "maxdelq2publicreclast12m(X,V) :- numtrades60ever2derogpubrec(X,N), N=<1, V>=5.",
)
CONSTRAINTS = (
    ":- numtradesopeninlast12m(X,A), A>=8, averageminfile(X,B), B>=120.",
    ":- numsatisfactorytrades(X,A), A>=25, numtotaltrades(X,B), B<20.",
    ":- numtrades60ever2derogpubrec(X,A), A>=5, percenttradesneverdelq(X,B), B>=95.",
    ":- numinqlast6mexcl7days(X,A), A>=3, numinqlast6m(X,B), B<3.",
    ":- numtrades90ever2derogpubrec(X,A), A>=3, numtrades60ever2derogpubrec(X,B), B<3.",
    ":- msinceoldesttradeopen(X,A), A=<60, averageminfile(X,B), B>=61.",
    ":- numrevolvingtradeswbalance(X,A), A>=6, netfractionrevolvingburden(X,B), B=<5.",
    ":- percentinstalltrades(X,A), A>=60, numinstalltradeswbalance(X,B), B=<0.",
)
KINDS = {
    "1 rule": CAUSES[:1],
    "3 rules": CAUSES[:3],
    "8 rules": CAUSES,
    "8 rules, 8 constraints": (*CAUSES, *CONSTRAINTS),
}


class Timed(NamedTuple):
    """The status of a plan, and the seconds that it took."""

    status: str
    seconds: float


class World(NamedTuple):
    """A fitted model, the table that it is described by, and the people it refuses."""

    model: Any
    table: pd.DataFrame
    people: list[dict[str, int]]


def world(given: argparse.Namespace) -> World:
    """Return the model and its people."""
    frame, accepted, _ = heloc(given)
    mixed = frame.sample(frac=1, random_state=given.seed)
    cut = len(mixed) * 4 // 5
    table, rest = mixed[:cut], mixed[cut:]
    model = boosted(100, 3).fit(table, accepted[table.index])
    refused = rest[model.predict(rest) == 0][: given.rows]
    people = [{name: int(value) for name, value in row.items()} for _, row in refused.iterrows()]
    return World(model, table, people)


def timed(told: World, rules: tuple[str, ...], law: str) -> list[Timed]:
    """Return how long each person's plan took."""
    problem = Problem.from_model(told.model, told.table, causal="\n".join(rules) or None, law=law)
    times = []
    for row in (told.people[0], *told.people):
        plan, seconds = processor_time(partial(problem.plan, row, time_limit=SECONDS))
        times.append(Timed(plan.status, seconds))
    return times[1:]


def line(title: str, plain: list[Timed], ruled: list[Timed]) -> str:
    """Return one line on a kind of rules."""
    times = [1000 * each.seconds for each in ruled]
    soon = sum(each.status != "gave_up" and each.seconds <= SOON for each in ruled)
    proved = sum(each.status != "gave_up" for each in ruled)
    ratios = [a.seconds / b.seconds for a, b in zip(ruled, plain, strict=True)]
    overall = median(times) / median(1000 * each.seconds for each in plain)
    return (
        f"{title:30} {len(ruled)} people; proved within {SOON:.0f} s {100 * soon / len(ruled):.0f}%, "
        f"within {SECONDS:.0f} s {100 * proved / len(ruled):.0f}%; median {median(times):.1f} ms, most {max(times):.0f} ms; "
        f"{overall:.1f} times the median without rules, {median(ratios):.1f} at the median of people, {max(ratios):.0f} at most"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sdists", type=Path, required=True)
    given = parser.parse_args()
    setting = world(given)
    plain = timed(setting, (), "iff")
    print(line("no rules", plain, plain), flush=True)
    for law in ("if", "iff"):
        for kind, rules in KINDS.items():
            print(line(f"{law}, {kind}", plain, timed(setting, rules, law)), flush=True)


if __name__ == "__main__":
    recorded("models_with_rules", main)
