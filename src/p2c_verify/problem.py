"""The canonical form of a problem as data: features, rules, equations, a goal."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from p2c_verify.arithmetic import ARITY, NOTHING
from p2c_verify.values import ALL, KNOWN, MISSING, Feature, Span, Spans, VerifyError
from p2c_verify.values import choice, compared, complement, exact, intersect, require

FORMAT = "p2c-problem/1"
NAMED = {"features": "name", "decisions": "name", "causes": "feature", "equations": "feature"}
LARGEST_INT = 2**62
"""The largest whole number that a computed feature has."""


def parse(text: str) -> Any:
    """Return a JSON document with exact decimal numbers; refuse repeated keys."""
    try:
        return json.loads(
            text, parse_float=_decimal, parse_constant=_decimal, object_pairs_hook=_unique
        )
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise VerifyError(f"not a JSON document: {error}") from None


def _decimal(text: str) -> int | Fraction:
    require(abs(Decimal(text).adjusted()) < 400, f"{text} is out of range")
    number = Fraction(text)
    return int(number) if number.denominator == 1 else number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    require(len(dict(pairs)) == len(pairs), "a key is repeated")
    return dict(pairs)


def canonical_text(document: Any) -> str:
    """Return the canonical text of a document; a fraction is written as ["n/d"]."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), default=lambda n: [str(n)])


def digest(document: Any) -> str:
    """Return the SHA-256 of a document in its canonical text."""
    return hashlib.sha256(canonical_text(document).encode()).hexdigest()


def common_denominator(document: Any) -> int:
    """Return a common multiple of a document's denominators; a fraction is "n/d"."""
    return math.lcm(*map(int, re.findall(r'/([1-9]\d*)"', canonical_text(document))))


@dataclass(frozen=True, eq=False)
class Formula:
    """A statement about a state, or an arithmetic expression over it.

    The kind of a statement is "test" (a feature's value lies in the `wanted` spans), "sign" (the sign of an expression does,
    MISSING where it is undefined), "accepted" (by the model), "not", "all" or "any". The kind of an expression is "number",
    "value" (of a feature), "if" (a statement and two expressions) or an operation of `arithmetic`.
    """

    kind: str
    parts: tuple[Formula, ...] = ()
    feature: int = -1
    wanted: Spans = ()
    number: Fraction = Fraction(0)
    reads: frozenset[int] = frozenset()
    """The features that it reads, also through decisions and the model."""


def combined(kind: str, parts: Iterable[Formula], wanted: Spans = ()) -> Formula:
    """Combine formulas into one; one part of "all" or "any" stands for itself."""
    parts = tuple(parts)
    if len(parts) == 1 and kind in ("all", "any"):
        return parts[0]
    reads = frozenset[int]().union(*(each.reads for each in parts))
    return Formula(kind, parts, wanted=wanted, reads=reads)


class Rule(NamedTuple):
    """A causal rule with its head's values, or a constraint, which has no head."""

    head: Spans
    body: Formula
    text: str


class Cause(NamedTuple):
    """An endogenous feature with its law, its rules, and the values in no head."""

    feature: int
    law: str
    rules: tuple[Rule, ...]
    unheaded: Spans


class Equation:
    """A computed feature's expression, and the way in which its value is rounded."""

    def __init__(self, data: Mapping[str, Any], feature: Feature, raw: Formula) -> None:
        self.feature, self.raw, self.text = feature, raw, str(data["text"])
        self.keeps_residual = choice(data["residual"], "add none") == "add"
        ends = (
            None if data[key] is None else Fraction(data[key]) for key in ("min", "max", "step")
        )
        self.low, self.high, self.step = ends
        require(self.step is None or self.step > 0, "the step of an equation is not positive")
        self.first, self.residual = NOTHING, Fraction(0)
        """The raw value at the start, and the person's residual."""

    def value(self, number: Fraction) -> int:
        """Return a number clipped and rounded; MISSING if no value can hold it.

        A greater number never has a smaller value.
        """
        number = number if self.low is None else max(number, self.low)
        number = number if self.high is None else min(number, self.high)
        if self.step is not None:
            base, step = self.low or Fraction(0), self.step
            most = None if self.high is None else math.floor((self.high - base) / step)
            steps = round((number - base) / step)
            number = base + (steps if most is None else min(steps, most)) * step
        if self.feature.kind == "int":
            fits = abs(number) <= LARGEST_INT
            return exact(int(number), self.feature.scale) if fits else MISSING
        try:
            return exact(Fraction(repr(float(number))), self.feature.scale)
        except OverflowError:
            return MISSING


class Problem:
    """A canonical problem, scaled so that its numbers and one row's are integers."""

    def __init__(self, document: Mapping[str, Any], row: Mapping[str, Any]) -> None:
        choice(document["format"], FORMAT)
        self.norm = choice(document["norm"], "l0 l1 l2 linf")
        self.fewest = choice(document["minimize"], "cost actions") == "actions"
        self.strict = choice(document["exceptions"], "abduce strict") == "strict"
        self.supported = choice(document["effects"], "triggered supported") == "supported"
        rest = {key: value for key, value in document.items() if key != "model"}
        self.scale = common_denominator([rest, row])
        pairs = enumerate(document["features"])
        self.features = tuple(Feature(n, own, row.get(own["name"]), self.scale) for n, own in pairs)
        self.named = {each.name: each for each in self.features}
        self.edges: list[set[int]] = [set() for _ in self.features]
        """The least values, by feature, at which a condition can change its truth."""
        self._tests: dict[tuple[int, Spans], Formula] = {}
        self.sides: list[Formula] = []
        """The sides of arithmetic comparisons."""
        self.decisions: dict[str | None, Formula] = {}
        """Decisions by name, callees first; `None` is the model's `accepted(X)`."""
        if document["model"] is not None:
            axes = (self.named[each["feature"]].index for each in document["model"]["axes"])
            self.decisions[None] = Formula("accepted", reads=frozenset(axes))
        for each in document["decisions"]:
            require(isinstance(each["name"], str), "a decision has no name")
            self.decisions[each["name"]] = combined("any", map(self._body, each["rules"]))
        self.causes = tuple(map(self._cause, document["causes"]))
        self.constraints = tuple(
            Rule((), self._body(each["body"]), each["text"]) for each in document["constraints"]
        )
        self.goal = self._body(document["goal"])
        self.equations = tuple(map(self._equation, document["equations"]))
        """The equations in the order of dependency."""
        self.arithmetic = [*(each.raw for each in self.equations), *self.sides]
        """The expressions that stay defined."""
        bodies = [combined("any", [rule.body for rule in each.rules]) for each in self.causes]
        causes = zip(self.causes, bodies, strict=True)
        parents = {each.feature: body.reads for each, body in causes}
        parents |= {each.feature.index: each.raw.reads for each in self.equations}
        self._check(document, row)
        self.endogenous = frozenset(parents)
        """The features with causal rules or an equation."""
        self.upstream = dict(parents)
        """All ancestors of each endogenous feature; each round doubles the chain length."""
        for _ in range(len(parents).bit_length()):
            for feature, above in self.upstream.items():
                further = (self.upstream.get(each, above) for each in above)
                self.upstream[feature] = above.union(*further)
        moving = {each.index for each in self.features if each.moves is not None}
        limits = [*(each.body for each in self.constraints), *self.arithmetic]
        read = combined("all", [*bodies, *limits]).reads
        self.relevant = read.union(moving, parents)
        """Features whose order can matter: read, governed or moving."""

    def _check(self, document: Mapping[str, Any], row: Mapping[str, Any]) -> None:
        """Refuse a repeated part, a feature of two kinds, and a row that lacks a value."""
        for key, name in NAMED.items():
            named = [each[name] for each in document[key]]
            require(len({*named}) == len(named), f"the problem repeats one of its {key}")
        computed = {each.feature for each in self.equations}
        apart = computed.isdisjoint(self.features[each.feature] for each in self.causes)
        unset = {each for each in self.features if each.points is None}
        require(apart and computed == unset, "a feature is computed and something else")
        for number, each in enumerate(self.equations):
            later = {other.feature.index for other in self.equations[number:]}
            require(
                later.isdisjoint(each.raw.reads), "an equation reads its feature or a later one"
            )
        given = set(row).union(each.name for each in computed) == set(self.named)
        require(given, "the row does not give every feature once")

    def cut(self, feature: int, span: Span) -> Spans:
        """Return a span in parts on which every condition has one truth."""
        low, high = span
        edges = sorted({low, high + 1, *(e for e in self.edges[feature] if low < e <= high)})
        return tuple((first, after - 1) for first, after in pairwise(edges))

    def test(self, feature: int, wanted: Spans) -> Formula:
        """Return the test that a feature's value lies in given spans."""
        fresh = Formula("test", (), feature, wanted, reads=frozenset({feature}))
        return self._tests.setdefault((feature, wanted), fresh)

    def _body(self, conditions: Iterable[Any]) -> Formula:
        return combined("all", map(self._condition, conditions))

    def _condition(self, data: Any) -> Formula:
        match data:
            case ["test", name, operator, constant] if constant is not None:
                feature = self.named[name]
                choice(operator, "= \\=" if feature.kind == "category" else "= \\= < =< > >=")
                value = feature.read(constant)
                self.edges[feature.index].update((value, value + 1))
                return self.test(feature.index, compared(operator, value))
            case ["compare", left, operator, right]:
                choice(operator, "= \\= < =< > >=")
                sides = [self._expression(left), self._expression(right)]
                self.sides += sides
                difference = combined("+", [sides[0], combined("neg", sides[1:])])
                return combined("sign", [difference], compared(operator, 0))
            case ["call", None | str() as name] if name in self.decisions:
                return self.decisions[name]
            case ["not", part]:
                formula = self._condition(part)
                if formula.kind == "test":
                    return self.test(formula.feature, complement(formula.wanted))
                return combined("not", [formula])
            case ["all" | "any" as kind, *parts]:
                return combined(kind, map(self._condition, parts))
        raise VerifyError(f"not a condition: {data!r}")

    def _expression(self, data: Any) -> Formula:
        match data:
            case int() | Fraction() if not isinstance(data, bool):
                return Formula("number", number=Fraction(data))
            case str() if not self.named[data].labels:
                place = self.named[data].index
                return Formula("value", feature=place, reads=frozenset({place}))
            case ["if", condition, *parts] if len(parts) == 2:
                return combined("if", [self._condition(condition), *map(self._expression, parts)])
            case [str() as kind, *parts] if ARITY.get(kind) == len(parts):
                return combined(kind, map(self._expression, parts))
        raise VerifyError(f"not an expression: {data!r}")

    def _equation(self, data: Any) -> Equation:
        feature, raw = self.named[data["feature"]], self._expression(data["expression"])
        return Equation(data, feature, raw)

    def _cause(self, data: Any) -> Cause:
        feature, rules, unheaded = self.named[data["feature"]].index, [], ALL
        for each in data["rules"]:
            head = KNOWN
            for test in map(self._condition, each["head"]):
                own = test.kind == "test" and test.feature == feature
                require(own, f"the head does not test its feature: {each['text']}")
                head = intersect(head, test.wanted)
            rules.append(Rule(head, self._body(each["body"]), each["text"]))
            unheaded = intersect(unheaded, complement(head))
        return Cause(feature, choice(data["law"], "iff if only_if"), tuple(rules), unheaded)
