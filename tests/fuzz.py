"""Random and damaged input: rule text, problem dicts, rows and restrictions, of which none may raise anything but our own errors."""

from __future__ import annotations

import copy
import string
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from p2c import Problem
from p2c._plan.restriction import Restriction
from p2c._rules.parse import parse, parse_query
from p2c.errors import P2CError, RuleError
from tests.loan import JOHN, LOAN
from tests.paper import LISTINGS
from tests.strategies import random_problem

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

PIECES = (
    *string.printable, "not", "not(", ":-", "?-", "\\=", "=<", ">=", "''", "'", "\\", "/*", "*/", "%", "X", "N1",
    "age(X,N)", "1e999", "9" * 5000, "-", "0.1", "_", "é", "٣", "\x00", "\ud800", "\u2028", "\ufeff", "{", "\\n'",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 5.0, 0.1, -0.0, 10**400, -(10**400), 2**63, 1e308, -1e308, 5e-324, float("nan"),
    float("inf"), "", "x", "int", "float", "category", "ordinal", "range", "effect", "up", "iff", "\x00", "a\nb",
    "\ud800", [], [1], [[]], ["a", "a"], [1, "1"], [None], {}, {"a": ["b"]}, {1: [2]}, {None: 3}, (), {1, 2}, b"x",
    object(), lambda: None,
)  # fmt: skip
LOAN_PROBLEM = Problem.from_dict(LOAN)
PROBLEM_KEYS = (
    "name", "goal", "law", "exceptions", "effects", "norm", "minimize", "rules", "rules_file", "features", "extra",
)  # fmt: skip
FEATURE_KEYS = (
    "type", "values", "min", "max", "step", "action", "weight", "scale", "law", "moves", "label", "unit", "phrase",
    "extra",
)  # fmt: skip


def survives(act: Callable[[], object]) -> None:
    """Do something that may fail with an error of ours, but with no other."""
    with suppress(P2CError):
        act()


def refuses_in_one_line(act: Callable[[], object]) -> None:
    """Do something that may fail with one line about rule text."""
    try:
        act()
    except RuleError as error:
        text = str(error)
        if not text.startswith("line ") or "\n" in text:
            raise AssertionError(text) from error


def attack_with_bytes(rng: random.Random) -> None:
    """Read random bytes, or random pieces of the language, as rules."""
    if rng.random() < 0.5:
        text = rng.randbytes(rng.randrange(200)).decode("utf-8", "replace")
    else:
        text = "".join(rng.choices(PIECES, k=rng.randrange(60)))
    _read_everywhere(rng, text)


def attack_with_damaged_rules(rng: random.Random) -> None:
    """Read the paper's rules, or random ones, with a few pieces cut, doubled, swapped or put in."""
    if rng.random() < 0.5:
        text = rng.choice(list(LISTINGS.values()))
    else:
        text = str(random_problem(rng)[0]["rules"])
    for _ in range(rng.randint(1, 4)):
        text = damaged(rng, text)
    _read_everywhere(rng, text)


def attack_with_a_damaged_problem(rng: random.Random) -> None:
    """Read a problem with random values under some of its keys."""
    problem = copy.deepcopy(random_problem(rng)[0] if rng.random() < 0.7 else LOAN)
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.4 or not isinstance(problem.get("features"), dict):
            problem[rng.choice(PROBLEM_KEYS)] = rng.choice(VALUES)
        else:
            name = rng.choice([*problem["features"], "new"])
            keys = problem["features"].setdefault(name, {})
            if isinstance(keys, dict) and rng.random() < 0.9:
                keys[rng.choice(FEATURE_KEYS)] = rng.choice(VALUES)
            else:
                problem["features"][rng.choice([name, *VALUES[:5]])] = rng.choice(VALUES)
    survives(lambda: Problem.from_dict(problem))


def attack_with_a_damaged_row(rng: random.Random) -> None:
    """Read a row with random values."""
    problem, given = random_problem(rng)
    row: dict[Any, Any] = dict(given)
    for name in given:
        if rng.random() < 0.5:
            row[name] = rng.choice(VALUES)
    if rng.random() < 0.2:
        row[rng.choice([None, 5, "new"])] = rng.choice(VALUES)
    survives(lambda: Problem.from_dict(problem).read_row(row))


def attack_with_damaged_restrictions(rng: random.Random) -> None:
    """Plan for somebody with random values in what they add to a problem."""
    keys = [*Restriction.model_fields, "extra", 5]
    own: Any = {
        rng.choice(["debt", "credit_score", "new", None]): rng.choice(VALUES)
        if rng.random() < 0.2
        else {rng.choice(keys): rng.choice([*VALUES, ["moves"], ["limits", "up"], "moves"])}
        for _ in range(rng.randint(1, 3))
    }
    survives(
        lambda: LOAN_PROBLEM.plan(JOHN, restrict=own if rng.random() < 0.9 else rng.choice(VALUES))
    )


ATTACKS: dict[str, Callable[[random.Random], None]] = {
    "bytes": attack_with_bytes,
    "damaged rules": attack_with_damaged_rules,
    "damaged problems": attack_with_a_damaged_problem,
    "damaged rows": attack_with_a_damaged_row,
    "damaged restrictions": attack_with_damaged_restrictions,
}


def damaged(rng: random.Random, text: str) -> str:
    """Return text with one piece cut, doubled, moved or put in."""
    start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    end = min(end, start + rng.choice((1, 1, 2, 5, 20, 100)))
    match rng.randrange(5):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:end] + text[start:end] * rng.choice((1, 1, 50)) + text[end:]
        case 2:
            place = rng.randrange(len(text) + 1)
            return text[:place] + text[start:end] + text[place:]
        case _:
            return f"{text[:start]}{rng.choice(PIECES)}{text[end:]}"


def _read_everywhere(rng: random.Random, text: str) -> None:
    refuses_in_one_line(lambda: parse(text))
    key = rng.choice(("rules", "rules", "goal"))
    survives(lambda: Problem.from_dict(LOAN | {key: text}))
    if key == "goal":
        refuses_in_one_line(lambda: parse_query(text))
