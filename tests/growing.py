"""Families of problems that are hard for a search without learning."""

from __future__ import annotations

import random
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Document = dict[str, Any]
World = tuple[Document, Document]


def _world(rules: list[str], features: Document, row: Document, **keys: str) -> World:
    document = {"name": "family", "goal": "not reject(X)", "rules": "\n".join(rules)}
    return document | {"features": features} | keys, row


def _flags(count: int, **keys: str) -> Document:
    return {f"x{each}": {"type": "category", "values": ["n", "y"], **keys} for each in range(count)}


def all_different(size: int, values: int | None = None) -> World:
    """Return as many features as values, no two alike."""
    names = [f"x{each}" for each in range(size)]
    listed = [f"v{each}" for each in range(values or size)]
    rules = [
        f"reject(X) :- {one}(X,'{value}'), {other}(X,'{value}')."
        for one, other in combinations(names, 2)
        for value in listed
    ]
    features = {name: {"type": "category", "values": listed} for name in names}
    return _world(rules, features, dict.fromkeys(names, listed[0]))


def pigeonhole(size: int) -> World:
    """Return one more feature than values, no two alike: there is no plan."""
    return all_different(size, size - 1)


def hitting_sets(size: int) -> World:
    """Return sets of three features, of each of which one must be changed."""
    rng = random.Random(size)
    rules = []
    for _ in range(3 * size):
        body = ", ".join(f"x{each}(X,'n')" for each in rng.sample(range(size), 3))
        rules.append(f"reject(X) :- {body}.")
    return _world(rules, _flags(size), dict.fromkeys(_flags(size), "n"))


def vertex_cover(size: int, **keys: str) -> World:
    """Return a graph with weights from 1 to 9; each edge needs a changed end."""
    rng = random.Random(size)
    edges = {
        tuple(sorted((one, (one + step) % size)))
        for one in range(size)
        for step in (1, rng.randrange(2, size))
    }
    rules = [f"reject(X) :- x{one}(X,'n'), x{other}(X,'n')." for one, other in sorted(edges)]
    features = _flags(size, **keys)
    for each in features.values():
        each["weight"] = rng.randint(1, 9)
    return _world(rules, features, dict.fromkeys(features, "n"))


def ring(size: int) -> World:
    """Return a ring of features; each can be set and follows the one before it."""
    rules = [f"x{each}(X,'y') :- x{(each - 1) % size}(X,'y')." for each in range(size)]
    rules += [
        f"reject(X) :- x{each}(X,'n'), x{(each + size // 2) % size}(X,'n')." for each in range(size)
    ]
    features = _flags(size, action="free")
    return _world(rules, features, dict.fromkeys(features, "n"))


def fixed_ring(size: int) -> World:
    """Return the ring with nothing that can be set."""
    document, row = ring(size)
    features = {name: {**each, "action": "fixed"} for name, each in document["features"].items()}
    return document | {"features": features}, row


def complete_moves(size: int) -> World:
    """Return moves from every value to every other on three features."""
    listed = [f"v{each}" for each in range(size)]
    moves = {one: [other for other in listed if other != one] for one in listed}
    features = {
        f"x{each}": {"type": "category", "values": listed, "moves": moves} for each in range(3)
    }
    rules = [f"reject(X) :- not x{each}(X,'{listed[-1]}')." for each in range(3)]
    return _world(rules, features, dict.fromkeys(features, listed[0]))


def conjunctive_causes(size: int) -> World:
    """Return one endogenous feature with rules of three conditions each."""
    rng = random.Random(size)
    count = 2 * size
    rules = []
    for _ in range(size):
        body = ", ".join(f"x{each}(X,'y')" for each in rng.sample(range(count), 3))
        rules.append(f"goal(X,'y') :- {body}.")
    rules.append("reject(X) :- goal(X,'n').")
    features = _flags(count)
    for each in features.values():
        each["weight"] = rng.randint(1, 9)
    features["goal"] = {"type": "category", "values": ["n", "y"]}
    return _world(rules, features, dict.fromkeys(features, "n"))


def fixed_features(size: int) -> World:
    """Return fixed features, each of which must change."""
    rules = [f"reject(X) :- x{each}(X,'n')." for each in range(size)]
    features = _flags(size, action="fixed")
    return _world(rules, features, dict.fromkeys(features, "n"))


def fixed_cover(size: int) -> World:
    """Return the vertex cover of features that are fixed."""
    return vertex_cover(size, action="fixed")


def cuts(size: int, norm: str = "l1") -> World:
    """Return ten numbers that rules compare with many constants."""
    rng = random.Random(size)
    rules = []
    for _ in range(size // 2):
        one, other = rng.sample(range(10), 2)
        low, high = rng.randrange(1, 1000), rng.randrange(1, 1000)
        rules.append(f"reject(X) :- x{one}(X,N), N<{low}, x{other}(X,M), M<{high}.")
    features = {f"x{each}": {"type": "int", "min": 0, "max": 1000} for each in range(10)}
    return _world(rules, features, dict.fromkeys(features, 0), norm=norm)


def many_rules(size: int) -> World:
    """Return rules over 40 features, of which ten numbers must rise."""
    rng = random.Random(size)
    rules = []
    for _ in range(size):
        body = ", ".join(
            f"x{each}(X,'{rng.choice('abc')}')"
            if each % 2
            else f"x{each}(X,N{each}), N{each}>={rng.randrange(1, 50)}"
            for each in rng.sample(range(40), 3)
        )
        rules.append(f"reject(X) :- {body}.")
    rules += [f"reject(X) :- x{each}(X,N), N<{5 + each}." for each in range(0, 40, 4)]
    features: Document = {
        f"x{each}": {"type": "category", "values": ["a", "b", "c"]}
        if each % 2
        else {"type": "int", "min": 0, "max": 50}
        for each in range(40)
    }
    row = {name: "a" if "values" in each else 0 for name, each in features.items()}
    return _world(rules, features, row)


FAMILIES: dict[str, tuple[Callable[[int], World], tuple[int, ...]]] = {
    "all different": (all_different, (6, 8, 10, 12)),
    "pigeonhole": (pigeonhole, (6, 7, 8)),
    "hitting sets": (hitting_sets, (20, 40, 60)),
    "vertex cover": (vertex_cover, (20, 40, 60)),
    "ring": (ring, (8, 16, 24)),
    "fixed ring": (fixed_ring, (12, 24)),
    "complete moves": (complete_moves, (5, 8, 10)),
    "conjunctive causes": (conjunctive_causes, (10, 20, 40)),
    "fixed features": (fixed_features, (20, 40)),
    "fixed cover": (fixed_cover, (20, 40)),
    "cuts": (cuts, (200, 1000)),
    "cuts, linf": (partial(cuts, norm="linf"), (200, 1000)),
    "rules": (many_rules, (500, 2000)),
}
