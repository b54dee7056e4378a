"""The canonical form of a problem as data: features, bound rules, a goal."""

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

from p2c_verify.values import ALL, FAR, KNOWN, MISSING, Feature, Span, Spans, VerifyError
from p2c_verify.values import choice, complement, exact, intersect, require

FORMAT = "p2c-problem/1"


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
    """A statement about a state.

    Its kind is "test" (a feature's value lies in the `wanted` spans), "accepted" (by the model), "not", "all" or "any".
    """

    kind: str
    parts: tuple[Formula, ...] = ()
    feature: int = -1
    wanted: Spans = ()
    reads: frozenset[int] = frozenset()
    """The features that it reads, also through decisions and the model."""


def combined(kind: str, parts: Iterable[Formula]) -> Formula:
    """Combine formulas into one; one part of "all" or "any" stands for itself."""
    parts = tuple(parts)
    if len(parts) == 1 and kind != "not":
        return parts[0]
    return Formula(kind, parts, reads=frozenset[int]().union(*(each.reads for each in parts)))


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
        self.named: dict[str, Feature] = {}
        for index, each in enumerate(document["features"]):
            self.named[each["name"]] = self._feature(index, each, row[each["name"]])
        self.features = tuple(self.named.values())
        self.edges: list[set[int]] = [set() for _ in self.features]
        """The least values, by feature, at which a condition can change its truth."""
        self._tests: dict[tuple[int, Spans], Formula] = {}
        self.decisions: dict[str | None, Formula] = {}
        """Decisions by name, callees first; `None` is the model's `accepted(X)`."""
        if document["model"] is not None:
            axes = (self.named[each["feature"]].index for each in document["model"]["axes"])
            self.decisions[None] = Formula("accepted", reads=frozenset(axes))
        for each in document["decisions"]:
            require(isinstance(each["name"], str), "a decision has no name")
            self.decisions[each["name"]] = combined("any", map(self._body, each["rules"]))
        self.causes = tuple(map(self._cause, document["causes"]))
        limits = ((self._body(each["body"]), each["text"]) for each in document["constraints"])
        self.constraints = tuple(Rule((), body, text) for body, text in limits)
        self.goal = self._body(document["goal"])
        parents = {
            each.feature: frozenset[int]().union(*(rule.body.reads for rule in each.rules))
            for each in self.causes
        }
        sizes = {
            "features": len(self.named),
            "decisions": len(self.decisions) - (None in self.decisions),
            "causes": len(parents),
        }
        for key, size in sizes.items():
            require(size == len(document[key]), f"the problem repeats one of its {key}")
        require(set(row) == set(self.named), "the row does not give every feature once")
        self.upstream = dict(parents)
        """All ancestors of each endogenous feature; each round doubles the chain length."""
        for _ in range(len(parents).bit_length()):
            for feature, above in self.upstream.items():
                further = (self.upstream.get(each, above) for each in above)
                self.upstream[feature] = above.union(*further)
        moving = [each.index for each in self.features if each.moves is not None]
        limited = (each.body.reads for each in self.constraints)
        self.relevant = frozenset[int]().union(moving, parents, *parents.values(), *limited)
        """Features whose order can matter: read, governed or moving."""

    def cut(self, feature: int, span: Span) -> Spans:
        """Return a span in parts on which every condition has one truth."""
        low, high = span
        edges = sorted({low, high + 1, *(e for e in self.edges[feature] if low < e <= high)})
        return tuple((first, after - 1) for first, after in pairwise(edges))

    def _feature(self, index: int, data: Mapping[str, Any], own: Any) -> Feature:
        kind = choice(data["type"], "int float category ordinal")
        actions = "free up down fixed effect"
        action = choice(data["action"], actions)
        led = choice(data.get("effect_action", action), actions)
        domain, scale, labels = data["domain"], self.scale, tuple[Any, ...]()
        points: range | tuple[int, ...]
        if kind in ("category", "ordinal"):
            scale, labels = 1, tuple(domain["values"])
            points = range(len(labels))
            if kind == "category" and isinstance(own, str) and own not in labels:
                labels += (own,)  # a value that only a model reads; nothing can change to it
        elif "values" in domain:
            points = tuple(exact(each, scale) for each in domain["values"])
            require(list(points) == sorted(set(points)), f"{data['name']}: values do not ascend")
        else:
            start, stop, step = (exact(domain[key], scale) for key in ("start", "stop", "step"))
            points = range(start, stop + 1, max(step, 0))
        weight, unit = Fraction(data["weight"]), exact(Fraction(data["divisor"]), scale)
        require(weight >= 0 and unit > 0, f"{data['name']}: negative weight or divisor")
        require(len(set(labels)) == len(labels), f"{data['name']}: a value is repeated")
        moves, places = data.get("moves"), range(len(labels))
        if moves is not None:
            ranks = {str(label): rank for rank, label in enumerate(labels)}
            ends = {ranks[start]: sorted(map(labels.index, moves[start])) for start in moves}
            moves = {rank: tuple((end, end) for end in ends.get(rank, ())) for rank in places}
        unit = 1 if kind == "category" else unit
        targets = ALL
        if "targets" in data:
            pairs = [
                [labels.index(end) if labels else exact(end, scale) for end in pair]
                for pair in data["targets"]
            ]
            targets = tuple((low, high) for low, high in pairs)
        return Feature(
            index,
            data["name"],
            kind,
            action,
            led,
            targets,
            scale,
            labels,
            points,
            weight,
            unit,
            moves,
        )

    def test(self, feature: int, wanted: Spans) -> Formula:
        """Return the test that a feature's value lies in given spans."""
        fresh = Formula("test", (), feature, wanted, frozenset({feature}))
        return self._tests.setdefault((feature, wanted), fresh)

    def _body(self, conditions: Iterable[Any]) -> Formula:
        return combined("all", map(self._condition, conditions))

    def _condition(self, data: Any) -> Formula:
        match data:
            case ["test", name, operator, constant, bool() as negated] if constant is not None:
                feature = self.named[name]
                choice(operator, "= \\=" if feature.kind == "category" else "= \\= < =< > >=")
                value = feature.read(constant)
                low = {"<": MISSING + 1, "=<": MISSING + 1, ">": value + 1}.get(operator, value)
                high = {"<": value - 1, ">": FAR, ">=": FAR}.get(operator, value)
                wanted: Spans = ((low, high),)
                if operator == "\\=":
                    wanted = intersect(complement(wanted), KNOWN)
                self.edges[feature.index].update((low, high + 1))
                return self.test(feature.index, complement(wanted) if negated else wanted)
            case ["call", None | str() as name, bool() as negated] if name in self.decisions:
                called = self.decisions[name]
                return combined("not", [called]) if negated else called
        raise VerifyError(f"not a condition: {data!r}")

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
