"""Random problems in which a model decides: a sum of tables, and perhaps of lines, over the features of a random problem of rules."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from p2c._learn.model.additive import AdditiveScore, ColumnCells, Curve, ScoreLine, Table
from p2c._learn.model.read_model import ReadModel
from p2c._rules.render import render_atom, render_term
from p2c._rules.syntax import Atom, Constant, Variable
from p2c.problem import Problem
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from p2c._spec.feature import Feature

Document = dict[str, Any]


def judged_problems(
    seed: int, count: int, *, lined: bool = False
) -> Iterator[tuple[Problem, Document]]:
    """Yield problems whose goal is the model's yes, in some with the goal of the rules besides, and a person each.

    Others ask for its no, or reach it through a decision; in some a constraint asks it too. Models that are `lined`
    weigh numbers as well, some of them with rounding, so that they are asked where a sum is on the border.
    """
    for number, (document, row) in enumerate(seeded_problems(seed, count)):
        rng = random.Random(f"{seed} {number} judged")
        features = Problem.from_dict(document).theory.features
        goal = "accepted(X)" if rng.random() < 0.7 else f"{document['goal']}, accepted(X)"
        score = _lined(rng, features) if lined else random_score(rng, features)
        judge = ReadModel(score, _asked(score) if lined else never)
        rules = document["rules"]
        if number % 3 == 1:
            goal = rng.choice(("not accepted(X)", "fine_by_all(X)", "not fine_by_all(X)"))
            rules += f"\nfine_by_all(X) :- accepted(X), {_condition(rng, features)}."
            rules += f"\nfine_by_all(X) :- not accepted(X), {_condition(rng, features)}."
        if number % 4 == 2:
            asked = rng.choice(("accepted(X)", "not accepted(X)"))
            rules += f"\n:- {asked}, {_condition(rng, features)}."
        norm = {"norm": "linf"} if lined and rng.random() < 0.15 else {}
        told = {**document, "goal": goal, "rules": rules, **norm}
        yield Problem.from_dict(told, model=judge), row


def unruled_problems(
    seed: int, count: int, *, lined: bool = False
) -> Iterator[tuple[Problem, Document]]:
    """Yield problems in which a model alone decides, perhaps one that weighs numbers, and nothing happens by itself, and a person each."""
    for number, (document, row) in enumerate(seeded_problems(seed, count)):
        rng = random.Random(f"{seed} {number} unruled")
        features = Problem.from_dict(document).theory.features
        score = _lined(rng, features, plain=True) if lined else random_score(rng, features)
        judge = ReadModel(score, _asked(score) if lined else never)
        told = {
            key: {
                name: value
                for name, value in each.items()
                if name not in ("law", "moves") and value != "effect"
            }
            for key, each in document["features"].items()
        }
        plain = {**document, "features": told, "goal": "accepted(X)", "rules": ""}
        yield Problem.from_dict({**plain, "effects": "triggered"}, model=judge), row


def calm_problems(seed: int, count: int) -> Iterator[tuple[Problem, Document]]:
    """Yield problems in which rules act and a model alone decides about ends, which reads features that no rule does, and a person each."""
    for number, (document, row) in enumerate(seeded_problems(seed, count)):
        rng = random.Random(f"{seed} {number} calm")
        kept = {
            key: {name: value for name, value in each.items() if name != "moves"}
            for key, each in document["features"].items()
        }
        calm: Document = {
            "calm": {"type": "int", "min": 0, "max": 3, "weight": rng.choice((0, 1, 1, 2))},
            "cool": {"type": "category", "values": ["a", "b", "c"], "weight": rng.choice((1, 3))},
        }
        told = {**document, "features": kept | calm, "goal": "accepted(X)", "effects": "triggered"}
        features = Problem.from_dict({**told, "goal": "calm(X,1)"}).theory.features
        judge = ReadModel(random_score(rng, features), never)
        person = {**row, "calm": rng.randrange(4), "cool": rng.choice("abc")}
        yield Problem.from_dict(told, model=judge), person


def caused_problems(seed: int, count: int) -> Iterator[tuple[Problem, Document]]:
    """Yield problems whose model reads endogenous features, and a person each.

    The model alone decides, and actions set off changes of these features.

    Most plans contain an effect. Constraints, exceptions, cycles of causal rules, several nearest values, missing and off-grid
    values, and every norm occur.
    """
    for number in range(count):
        rng = random.Random(f"{seed} {number} caused")
        features: Document = {}
        for name in ("a", "b", "c")[: rng.choice((2, 2, 3))]:
            features[name] = _caused_feature(rng) | {
                "action": rng.choice(("free", "free", "free", "up", "down")),
                "weight": rng.choice((0, 1, 1, 1, 2, 0.5)),
            }
            if features[name]["type"] == "category":
                features[name]["action"] = "free"
        free = list(features)
        effects = ("e", "f", "g")[: rng.choice((1, 2, 2, 3) if len(free) == 2 else (1, 2))]
        for name in effects:
            features[name] = _caused_feature(rng) | {"law": rng.choice(("iff", "if", "only_if"))}
            if rng.random() < 0.12:
                features[name]["action"] = "free"
            elif features[name]["type"] == "ordinal" and rng.random() < 0.2:
                words = features[name]["values"]
                features[name]["moves"] = {
                    word: rng.sample(words, rng.randint(0, len(words))) for word in words
                }
        if rng.random() < 0.5:
            features["calm"] = {"type": "int", "min": 0, "max": 2, "weight": rng.choice((0, 1, 3))}
        rules = []
        for name in effects:
            for _ in range(rng.choice((1, 1, 2, 3))):
                others = [*free, *free, *(each for each in effects if each != name)]
                body = [_literal(rng, each, features[each], "N") for each in _some(rng, others)]
                rules.append(_caused(rng, name, features[name], body))
        for _ in range(rng.choice((0, 0, 1, 2))):
            some = _some(rng, [*free, *effects])
            rules.append(
                f":- {', '.join(_literal(rng, each, features[each], 'N') for each in some)}."
            )
        options = {
            "norm": rng.choice(("l0", "l1", "l1", "l2", "linf")),
            "minimize": rng.choice(("cost", "cost", "actions")),
        }
        document = {
            "goal": "accepted(X)",
            "rules": "\n".join(rules),
            "features": features,
            **options,
        }
        plain = {**document, "goal": f"a(X,{_word(_values(features['a'])[0])})"}
        theory = Problem.from_dict(plain).theory
        row = {name: _row_value(rng, keys) for name, keys in features.items()}
        yield Problem.from_dict(document, model=_refusing(rng, theory.features, row)), row


def _refusing(rng: random.Random, features: tuple[Feature, ...], row: Document) -> ReadModel:
    """Return a model that refuses a row and accepts another state.

    It is asked near its border, and about values that it was not parsed for.
    """
    states = [row, *({each.name: _drawn(rng, each) for each in features} for _ in range(60))]
    table = pd.DataFrame(states, dtype=object)
    while True:
        score = random_score(rng, features)
        if rng.random() < 0.2:
            score = replace(score, axes=tuple(_unread_value(rng, each) for each in score.axes))
        told = score.score(*score.locate(table))
        higher = told[(told > told[0]).all(axis=1)]
        if len(higher):
            border = rng.choice(list(higher))
            unsure = rng.choice((0.0, 0.0, 1.0))
            score = replace(score, refused_below=border - unsure, accepted_from=border + unsure)
            return ReadModel(score, _asked(replace(score, accepted_from=border)))


def _unread_value(rng: random.Random, axis: ColumnCells) -> ColumnCells:
    """Return the cells of a feature, one of its categories left out."""
    left_out = rng.choice([None, *axis.places])
    return replace(axis, places={name: n for name, n in axis.places.items() if name != left_out})


def _caused_feature(rng: random.Random) -> Document:
    size = rng.choice((2, 3, 3, 4))
    kind = rng.choice(("int", "int", "category", "ordinal"))
    if kind == "int":
        return {"type": "int", "min": 0, "max": size - 1}
    return {"type": kind, "values": list("pqrs"[:size])}


def _values(keys: Document) -> list[Any]:
    return keys.get("values") or list(range(keys["min"], keys["max"] + 1))


def _row_value(rng: random.Random, keys: Document) -> Any:
    if rng.random() < 0.04:
        return None
    return rng.choice(_values(keys))


def _word(value: Any) -> str:
    return str(value)


def _some(rng: random.Random, names: list[str]) -> list[str]:
    return sorted(set(rng.sample(names, rng.choice((1, 1, 2)))))


def _literal(rng: random.Random, name: str, keys: Document, variable: str) -> str:
    value = rng.choice(_values(keys))
    if keys["type"] == "category" or rng.random() < 0.2:
        return f"{rng.choice(('', '', 'not '))}{name}(X,{value})"
    variable += name.upper()
    return f"{name}(X,{variable}), {variable}{rng.choice(('>=', '=<'))}{value}"


def _caused(rng: random.Random, name: str, keys: Document, body: list[str]) -> str:
    value = rng.choice(_values(keys))
    if keys["type"] == "category" or rng.random() < 0.3:
        if rng.random() < 0.3:
            return f"{name}(X,V) :- {', '.join(body)}, V \\= {value}."
        return f"{name}(X,{value}) :- {', '.join(body)}."
    sign = rng.choice((">=", "=<"))
    return f"{name}(X,V) :- {', '.join(body)}, V{sign}{value}."


def _condition(rng: random.Random, features: tuple[Feature, ...]) -> str:
    feature = rng.choice(features)
    value = feature.domain.value(rng.randrange(feature.domain.size))
    name, constant = render_atom(Atom(feature.name, (Variable("X"),)))[:-1], Constant(value)
    if feature.kind.is_number:
        return f"{name},N), N{rng.choice(('>=', '=<'))}{render_term(constant)}"
    return f"{rng.choice(('', 'not '))}{name},{render_term(constant)})"


def _lined(
    rng: random.Random, features: tuple[Feature, ...], *, plain: bool = False
) -> AdditiveScore:
    """Return a sum that weighs most of the numbers it reads, its border within reach; a plain one has lines and tables of one feature."""
    score = random_score(rng, features)
    numbers = [place for place, axis in enumerate(score.axes) if axis.is_number]
    lines: list[ScoreLine | Curve] = []
    for place in numbers:
        slope = [rng.choice((-3, -2, -1, 0, 1, 2, 3)) / rng.choice((1, 2)) for _ in score.bias]
        if rng.random() < 0.85 and any(slope):
            line = ScoreLine(place, np.array(slope))
            lines.append(_curve(line) if rng.random() < 0.2 and not plain else line)
    if plain or rng.random() < 0.5:
        alone = tuple(table for table in score.tables if len(table.axes) == 1)
        score = replace(score, tables=alone)
    rounding = rng.choice((0.0, 1e-13))
    score = replace(score, lines=tuple(lines), rounding=rounding, magnitude=50.0)
    states = [{each.name: _drawn(rng, each) for each in features} for _ in range(40)]
    told = np.sort(score.score(*score.locate(pd.DataFrame(states))), axis=0)
    border = told[rng.choice((20, 30, 36, 39))]
    return replace(score, refused_below=border, accepted_from=border)


def _drawn(rng: random.Random, feature: Feature) -> Any:
    return feature.domain.value(rng.randrange(feature.domain.size))


def _curve(line: ScoreLine) -> Curve:
    """Return a curve that goes the way of a line: cubes instead of numbers."""

    def cubed(numbers: Any) -> Any:
        return line.of(numbers**3 / 4)

    margins = len(line.slope)
    return Curve(line.axis, cubed, margins, lambda numbers: abs(cubed(numbers)).max(axis=1))


def _asked(score: AdditiveScore) -> Callable[[Mapping[str, Any]], bool]:
    """Return the model behind a sum, which is the sum itself: these numbers leave nothing to round."""

    def ask(state: Mapping[str, Any]) -> bool:
        names = [axis.feature for axis in score.axes]
        cells, numbers = score.locate(pd.DataFrame([{name: state[name] for name in names}]))
        return bool((score.score(cells, numbers) >= score.accepted_from).all())

    return ask


def never(state: Mapping[str, Any]) -> bool:
    """Refuse to be asked."""
    raise AssertionError(f"a sum without rounding leaves nothing to ask, and yet {state}")


def random_score(rng: random.Random, features: tuple[Feature, ...]) -> AdditiveScore:
    """Return a sum of a few tables over some of the features."""
    read = [each for each in features if rng.random() < 0.85] or [features[0]]
    axes = tuple(_axis(rng, each) for each in read)
    margins = rng.choice((1, 1, 1, 2))
    tables = []
    for _ in range(rng.randint(1, 4)):
        chosen = tuple(sorted(rng.sample(range(len(axes)), min(len(axes), rng.randint(1, 2)))))
        shape = (*(axes[place].size for place in chosen), margins)
        drawn = [float(rng.randint(-4, 4)) for _ in range(int(np.prod(shape)))]
        tables.append(Table(chosen, np.array(drawn).reshape(shape)))
    cut = np.full(margins, float(rng.randint(0, 4)))
    return AdditiveScore(axes, np.zeros(margins), cut, cut, tuple(tables))


def _axis(rng: random.Random, feature: Feature) -> ColumnCells:
    size = feature.domain.size
    values = [feature.domain.value(place) for place in range(size)]
    if feature.kind.is_number:
        cuts = sorted({float(v) - rng.choice((0, 0.5, 0.01)) for v in values if rng.random() < 0.5})
        return ColumnCells(feature.name, len(cuts) + 2, np.array(cuts), missing=len(cuts) + 1)
    kinds = rng.randint(1, size)
    places = {str(value): rng.randrange(kinds) for value in values}
    return ColumnCells(feature.name, kinds + 1, None, places, missing=kinds)
