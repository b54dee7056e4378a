"""Random problems in which every literal, head and action is drawn at random.

No solution is planted, so most people have no plan.
"""

from __future__ import annotations

import random
from typing import Any

Document = dict[str, Any]

SIZES = {"12/16/6": (12, 16, 6), "20/40/15": (20, 40, 15), "30/100/40": (30, 100, 40)}
"""Features, decision rules and causal rules."""


def unplanted(seed: int, features: int, decisions: int, causes: int) -> tuple[Document, Document]:
    """Return a random problem and a random person."""
    rng = random.Random(f"{seed} {features} {decisions} {causes}")
    table = {f"f{number}": _feature(rng) for number in range(features)}
    heads = rng.sample(list(table), max(2, features // 3))
    rules = [f"refused(X) :- {_body(rng, list(table), table)}." for _ in range(decisions)]
    for number in range(causes):
        name = rng.choice(heads)
        others = [other for other in table if other != name]
        rules.append(_cause(rng, number, name, others, table))
    document = {
        "name": f"unplanted-{seed}",
        "goal": "not refused(X)",
        "law": rng.choice(["iff", "if", "only_if"]),
        "rules": "\n".join(rules),
        "features": table,
    }
    return document, {name: _value(rng, keys) for name, keys in table.items()}


def _feature(rng: random.Random) -> Document:
    action = rng.choice(["free", "free", "up", "down", "fixed"])
    if rng.random() < 0.5:
        keys: Document = {"type": "int", "min": 0, "max": rng.choice([10, 100, 1000])}
    else:
        keys = {"type": "category", "values": [f"v{n}" for n in range(rng.randint(2, 5))]}
        action = rng.choice(["free", "free", "fixed"])
    return keys if rng.random() < 0.4 else {**keys, "action": action}


def _value(rng: random.Random, keys: Document) -> Any:
    if keys["type"] == "int":
        return rng.randint(keys["min"], keys["max"])
    return rng.choice(keys["values"])


def _literal(rng: random.Random, name: str, keys: Document, number: int) -> str:
    if keys["type"] == "int":
        sign = rng.choice(["<", ">=", "=<", ">"])
        return f"{name}(X,N{number}), N{number}{sign}{_value(rng, keys)}"
    return f"{rng.choice(['', 'not '])}{name}(X,'{_value(rng, keys)}')"


def _body(rng: random.Random, names: list[str], table: Document) -> str:
    chosen = rng.sample(names, rng.randint(1, 3))
    return ", ".join(_literal(rng, name, table[name], n) for n, name in enumerate(chosen))


def _cause(rng: random.Random, number: int, name: str, others: list[str], table: Document) -> str:
    keys, body = table[name], _body(rng, others, table)
    if keys["type"] == "int":
        sign = rng.choice(["<", ">=", "=<", ">"])
        return f"{name}(X,H{number}) :- {body}, H{number}{sign}{_value(rng, keys)}."
    return f"{name}(X,'{_value(rng, keys)}') :- {body}."


def with_moves(document: Document, most: int | None = None) -> Document:
    """Return a problem in which every second list of values permits neighbours only."""
    features = dict(document["features"])
    listed = [name for name, keys in features.items() if "values" in keys]
    for name in listed[::2][:most]:
        values = features[name]["values"]
        beside = zip(values, values[1:] + values[:1], values[-1:] + values[:-1], strict=True)
        moves = {value: sorted({after, before} - {value}) for value, after, before in beside}
        features[name] = {**features[name], "moves": moves}
    return {**document, "features": features}
