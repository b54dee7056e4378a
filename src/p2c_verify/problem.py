"""The canonical form of a problem: features with integer values, bound rules, a goal, a parsed model.

Every number of a feature is multiplied by one common denominator, so values are integers and comparisons are exact. The
values of a category or an ordinal are their ranks. `None` is a missing value.
"""

from __future__ import annotations

import hashlib
import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

FAR = 10**400
"""An integer beyond every value; stands for infinity in spans."""

Span = tuple[int, int]
"""A closed interval of integer values; only admissible values inside it are meant."""
Spans = tuple[Span, ...]
"""Disjoint spans in ascending order."""


class VerifyError(Exception):
    """The document is malformed or claims something that the checker could not verify."""


class ValueSet(NamedTuple):
    """The values that a feature may have in a set of states."""

    spans: Spans
    missing: bool = False


class Test(NamedTuple):
    """A comparison of a feature with a constant; `negated` is negation as failure."""

    feature: int
    operator: str
    constant: int
    negated: bool


class Call(NamedTuple):
    """A decision in a body, by its index; `None` is the model's `accepted(X)`."""

    decision: int | None
    negated: bool


Condition = Test | Call
Body = tuple[Condition, ...]


class CausalRule(NamedTuple):
    """A causal rule: the head's values as spans, and the body."""

    head: Spans
    body: Body
    text: str


class Cause(NamedTuple):
    """An endogenous feature with its law and its rules."""

    feature: int
    law: str
    rules: tuple[CausalRule, ...]
    unheaded: Spans


class Constraint(NamedTuple):
    """A body that no state of a path may satisfy, and the features that it reads."""

    body: Body
    reads: frozenset[int]
    text: str


@dataclass(frozen=True)
class Feature:
    """A feature whose values are integers: scaled numbers, or ranks of listed values."""

    index: int
    name: str
    kind: str
    scale: int
    labels: tuple[Any, ...]
    start: int
    stop: int
    step: int
    points: tuple[int, ...] | None
    action: str
    weight: Fraction
    divisor: Fraction
    moves: tuple[tuple[int, ...], ...] | None

    @property
    def listed(self) -> bool:
        """Tell whether the values are names."""
        return self.kind in ("category", "ordinal")

    def read(self, raw: Any) -> int | None:
        """Return the integer of a value in JSON."""
        if raw is None:
            return None
        if self.listed:
            if raw not in self.labels:
                raise VerifyError(f"{self.name}: {raw!r} is not one of its values")
            return self.labels.index(raw)
        if isinstance(raw, bool) or not isinstance(raw, int | Fraction):
            raise VerifyError(f"{self.name}: expected a number, found {raw!r}")
        value = Fraction(raw) * self.scale
        if value.denominator != 1:
            raise VerifyError(f"{self.name}: {raw} is not a value of this row or problem")
        return int(value)

    def write(self, value: int | None) -> Any:
        """Return the value as it stands in JSON, numbers as fractions."""
        if value is None or not self.listed:
            return value if value is None else Fraction(value, self.scale)
        return self.labels[value]

    def least(self, value: int) -> int | None:
        """Return the least admissible value at or above an integer, or None."""
        if self.points is not None:
            at = bisect_left(self.points, value)
            return self.points[at] if at < len(self.points) else None
        found = self.start + max(0, -((self.start - value) // self.step)) * self.step
        return found if found <= self.stop else None

    def greatest(self, value: int) -> int | None:
        """Return the greatest admissible value at or below an integer, or None."""
        if self.points is not None:
            at = bisect_right(self.points, value)
            return self.points[at - 1] if at else None
        if value < self.start:
            return None
        return self.start + (min(value, self.stop) - self.start) // self.step * self.step

    def snap(self, spans: Iterable[Span]) -> Spans:
        """Return spans cut back to admissible values, the empty ones dropped."""
        kept = []
        for low, high in spans:
            first, last = self.least(low), self.greatest(high)
            if first is not None and last is not None and first <= last:
                kept.append((first, last))
        return tuple(kept)

    @property
    def domain(self) -> Spans:
        """Return all admissible values."""
        return self.snap(((-FAR, FAR),))

    def distance(self, start: int | None, end: int | None) -> Fraction:
        """Return the distance of a change: 1 for categories and from a missing value."""
        if start is None or end is None or self.kind == "category":
            return Fraction(int(start != end))
        return Fraction(abs(end - start), self.scale) / self.divisor


@dataclass(frozen=True)
class Axis:
    """The cells that a parsed model cuts a feature into."""

    feature: int
    size: int
    uppers: tuple[float, ...] | None
    places: Mapping[int, int]
    missing: int | None
    whole: bool

    def cell(self, feature: Feature, value: int | None) -> int:
        """Return the cell of a value, -1 where the parsed form has none."""
        if value is None:
            return -1 if self.missing is None else self.missing
        if self.uppers is None:
            return self.places.get(value, -1)
        number = Fraction(value, feature.scale)
        if self.whole and number.denominator != 1:
            return -1
        return bisect_left(self.uppers, float(number))


@dataclass(frozen=True)
class Model:
    """A parsed model: a state is accepted where every margin reaches its threshold."""

    axes: tuple[Axis, ...]
    bias: tuple[Fraction, ...]
    parts: tuple[tuple[tuple[tuple[Fraction, ...], tuple[tuple[int, Spans], ...]], ...], ...]
    lines: tuple[tuple[int, tuple[Fraction, ...]], ...]
    accepted_from: tuple[Fraction, ...]
    refused_below: tuple[Fraction, ...]
    rounding: Fraction
    magnitude: Fraction


@dataclass(frozen=True)
class Problem:
    """A problem as the checker sees it."""

    features: tuple[Feature, ...]
    decisions: tuple[tuple[Body, ...], ...]
    causes: tuple[Cause, ...]
    constraints: tuple[Constraint, ...]
    goal: Body
    model: Model | None
    norm: str
    fewest: bool
    strict: bool
    supported: bool
    upstream: tuple[frozenset[int], ...]
    relevant: frozenset[int]
    """Features that causal rules and constraints read or govern: those whose order of change can matter."""


def parse(text: str) -> Any:
    """Return a JSON document with decimal numbers read exactly; repeated keys are an error."""
    return json.loads(text, parse_float=Fraction, parse_constant=_refuse, object_pairs_hook=_unique)


def digest(document: Any) -> str:
    """Return the SHA-256 of a document in its canonical text."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(number: Any) -> str:
    return f"{number.numerator}/{number.denominator}"


def _refuse(name: str) -> None:
    raise VerifyError(f"{name} is not a number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise VerifyError("a key is repeated")
    return found


def read_problem(document: Mapping[str, Any], row: Mapping[str, Any]) -> Problem:
    """Return the problem of a canonical document, its numbers scaled so that the row's values are integers too."""
    if document.get("format") != "p2c-problem/1":
        raise VerifyError("the problem is not in the canonical form p2c-problem/1")
    names = {each["name"]: place for place, each in enumerate(document["features"])}
    constants: list[set[Fraction]] = [set() for _ in names]
    for name, _, constant, _ in _tests(document):
        if isinstance(constant, int | Fraction):
            constants[names[name]].add(Fraction(constant))
    for name, place in names.items():
        if isinstance(row.get(name), int | Fraction):
            constants[place].add(Fraction(row[name]))
    features = tuple(
        _feature(place, each, constants[place], row.get(each["name"]))
        for place, each in enumerate(document["features"])
    )
    calls = {each["name"]: place for place, each in enumerate(document["decisions"])}

    def body(conditions: Iterable[Any]) -> Body:
        return tuple(_condition(features, names, calls, each) for each in conditions)

    decisions = tuple(tuple(map(body, each["rules"])) for each in document["decisions"])
    causes = tuple(_cause(features, names, body, each) for each in document["causes"])
    model = document.get("model")
    read = None if model is None else _model(features, names, model)
    reads = _Reads(decisions, read)
    limits = tuple(
        Constraint(found, reads.of(found), each["text"])
        for each in document["constraints"]
        for found in [body(each["body"])]
    )
    parents = {
        each.feature: frozenset().union(*(reads.of(rule.body) for rule in each.rules))
        for each in causes
    }
    return Problem(
        features,
        decisions,
        causes,
        limits,
        body(document["goal"]),
        read,
        document["norm"],
        document["minimize"] == "actions",
        document["exceptions"] == "strict",
        document["effects"] == "supported",
        tuple(_above(place, parents) for place in range(len(features))),
        frozenset(parents).union(*parents.values(), *(each.reads for each in limits)),
    )


def _tests(document: Mapping[str, Any]) -> Iterator[Any]:
    bodies = [document["goal"], *(each["body"] for each in document["constraints"])]
    bodies += [rule for each in document["decisions"] for rule in each["rules"]]
    for cause in document["causes"]:
        bodies += [part for rule in cause["rules"] for part in (rule["head"], rule["body"])]
    for body in bodies:
        yield from (each[1:] for each in body if each[0] == "test")


def _feature(place: int, data: Mapping[str, Any], constants: set[Fraction], own: Any) -> Feature:
    kind, domain = data["type"], data["domain"]
    labels: tuple[Any, ...] = ()
    points: tuple[int, ...] | None = None
    scale, start, stop, step = 1, 0, 0, 1
    if kind in ("category", "ordinal"):
        labels = tuple(domain["values"])
        stop = len(labels) - 1
        if isinstance(own, str) and own not in labels:
            labels += (own,)  # a value that only a model reads; nothing can change to it
    elif "values" in domain:
        numbers = [Fraction(each) for each in domain["values"]]
        scale = _denominator([*numbers, *constants])
        points = tuple(int(each * scale) for each in numbers)
        if list(points) != sorted(set(points)):
            raise VerifyError(f"{data['name']}: its values are not ascending")
    else:
        grid = [Fraction(domain[key]) for key in ("start", "stop", "step")]
        scale = _denominator([*grid, *constants])
        start, stop, step = (int(each * scale) for each in grid)
        if step <= 0:
            raise VerifyError(f"{data['name']}: the step is not above 0")
        stop = start + (stop - start) // step * step
    moves = data.get("moves")
    if moves is not None:
        moves = tuple(
            tuple(labels.index(end) for end in moves.get(str(label), ())) for label in labels
        )
    return Feature(
        place,
        data["name"],
        kind,
        scale,
        labels,
        start,
        stop,
        step,
        points,
        data["action"],
        Fraction(data["weight"]),
        Fraction(data["divisor"]),
        moves,
    )


def _denominator(numbers: Iterable[Fraction]) -> int:
    return math.lcm(1, *(each.denominator for each in numbers))


def _condition(
    features: tuple[Feature, ...], names: Mapping[str, int], calls: Mapping[str, int], data: Any
) -> Condition:
    match data:
        case ["test", name, operator, constant, bool() as negated]:
            feature = features[names[name]]
            value = feature.read(constant)
            if value is None or operator not in ("=", "\\=", "<", "=<", ">", ">="):
                raise VerifyError(f"not a test: {data}")
            return Test(feature.index, operator, value, negated)
        case ["call", name, bool() as negated]:
            return Call(None if name is None else calls[name], negated)
    raise VerifyError(f"not a condition: {data}")


def _cause(features: tuple[Feature, ...], names: Mapping[str, int], body: Any, data: Any) -> Cause:
    rules = []
    for rule in data["rules"]:
        head: Spans = ((-FAR, FAR),)
        for test in body(rule["head"]):
            head = intersect(head, satisfying(test))
        rules.append(CausalRule(head, body(rule["body"]), rule["text"]))
    unheaded: Spans = ((-FAR, FAR),)
    for each in rules:
        unheaded = intersect(unheaded, complement(each.head))
    return Cause(names[data["feature"]], data["law"], tuple(rules), unheaded)


OPPOSITE = {"=": "\\=", "\\=": "=", "<": ">=", "=<": ">", ">": "=<", ">=": "<"}


def satisfying(test: Test) -> Spans:
    """Return the values, missing ones aside, of which a test holds."""
    constant = test.constant
    match OPPOSITE[test.operator] if test.negated else test.operator:
        case "=":
            return ((constant, constant),)
        case "\\=":
            return ((-FAR, constant - 1), (constant + 1, FAR))
        case "<":
            return ((-FAR, constant - 1),)
        case "=<":
            return ((-FAR, constant),)
        case ">":
            return ((constant + 1, FAR),)
        case _:
            return ((constant, FAR),)


def intersect(one: Spans, other: Spans) -> Spans:
    """Return the values in both."""
    found = []
    for low, high in one:
        for least, most in other:
            if max(low, least) <= min(high, most):
                found.append((max(low, least), min(high, most)))
    return tuple(sorted(found))


def complement(spans: Spans) -> Spans:
    """Return the values in none of the spans."""
    found, at = [], -FAR
    for low, high in spans:
        if at < low:
            found.append((at, low - 1))
        at = high + 1
    return tuple(found) if at > FAR else (*found, (at, FAR))


def union(one: Spans, other: Spans) -> Spans:
    """Return the values in either.

    Overlapping spans are joined. A single value stays by itself: it may be the person's own, which need not be
    admissible, and a wider span would stand for admissible values only.
    """
    if one == other or not other:
        return one
    values = {each for each in one + other if each[0] == each[1]}
    wide: list[Span] = []
    for low, high in sorted({*one, *other} - values):
        if wide and low <= wide[-1][1]:
            wide[-1] = (wide[-1][0], max(wide[-1][1], high))
        else:
            wide.append((low, high))
    return tuple(sorted({*values, *wide}))


def _model(features: tuple[Feature, ...], names: Mapping[str, int], data: Any) -> Model:
    axes = tuple(
        Axis(
            names[each["feature"]],
            each["size"],
            None if each["uppers"] is None else tuple(float(Fraction(u)) for u in each["uppers"]),
            {
                rank: each["places"][label]
                for rank, label in enumerate(features[names[each["feature"]]].labels)
                if label in each["places"]
            },
            each["missing"],
            each["whole"],
        )
        for each in data["axes"]
    )
    parts = tuple(
        tuple(
            (
                tuple(map(Fraction, values)),
                tuple((axis, tuple((low, high) for low, high in cells)) for axis, cells in tests),
            )
            for values, tests in part
        )
        for part in data["parts"]
    )
    lines = tuple((each["axis"], tuple(map(Fraction, each["slope"]))) for each in data["lines"])
    vectors = (
        tuple(map(Fraction, data[key])) for key in ("bias", "accepted_from", "refused_below")
    )
    bias, accepted_from, refused_below = vectors
    rounding, magnitude = Fraction(data["rounding"]), Fraction(data["magnitude"])
    return Model(axes, bias, parts, lines, accepted_from, refused_below, rounding, magnitude)


class _Reads:
    """The features that bodies read, also through decisions and the model."""

    def __init__(self, decisions: tuple[tuple[Body, ...], ...], model: Model | None) -> None:
        self.of_model = frozenset(each.feature for each in model.axes) if model else frozenset()
        self.of_decision: list[frozenset[int]] = []
        for rules in decisions:
            self.of_decision.append(frozenset().union(*map(self.of, rules)))

    def of(self, body: Body) -> frozenset[int]:
        """Return the features that a body reads; the decisions that it calls stand before it."""
        found: set[int] = set()
        for each in body:
            if isinstance(each, Test):
                found.add(each.feature)
            elif each.decision is None:
                found |= self.of_model
            else:
                found |= self.of_decision[each.decision]
        return frozenset(found)


def _above(feature: int, parents: Mapping[int, frozenset[int]]) -> frozenset[int]:
    """Return the features from which causal arrows lead to one."""
    found: set[int] = set()
    waiting = list(parents.get(feature, ()))
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += parents.get(name, ())
    return frozenset(found)
