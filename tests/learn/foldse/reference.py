"""FOLD-SE in plain Python, row by row: slow, and short enough to be checked against the paper by eye.

A row is a dict of floats and strings. A literal is a tuple (feature, sign, value, negated), a rule a tuple (label,
literals, exceptions). It shares no code with the package.
"""

from __future__ import annotations

from collections import Counter
from math import inf, sqrt
from typing import Any

Row = dict[str, Any]
Literal = tuple[str, str, Any, bool]
Rule = tuple[Any, tuple[Literal, ...], tuple[Any, ...]]


def holds(literal: Literal, row: Row) -> bool:
    feature, sign, wanted, negated = literal
    value = row[feature]
    if sign == "=":
        found = value == wanted
    elif isinstance(value, str):
        found = False
    else:
        found = value <= wanted if sign == "=<" else value > wanted
    return bool(found) != negated


def covers(rule: Rule, row: Row) -> bool:
    _, literals, exceptions = rule
    if not all(holds(literal, row) for literal in literals):
        return False
    return not any(covers(exception, row) for exception in exceptions)


def score(tp: int, fn: int, tn: int, fp: int) -> float:
    if tp + tn < fp + fn:
        return -inf
    return -(sqrt(tp * fp) + sqrt(tn * fn)) / (tp + fn + tn + fp)


class Reference:
    """The learner: `fit`, then `rules`, `predict` and `text`."""

    def __init__(self, ratio: float = 0.5, tail: float = 0.005) -> None:
        self.ratio = ratio
        self.tail = tail

    def fit(self, rows: list[Row], labels: list[Any], positive: Any = None) -> Reference:
        self.rules: list[Rule] = []
        self.fewest = int(self.tail * len(rows))
        self.features = sorted(rows[0], key=lambda feature: self._has_numbers(rows, feature))
        classes = sorted(set(labels))
        if len(classes) > 2:
            self._fit_several(rows, labels)
            return self
        positive = classes[1] if positive is None else positive
        pos = [row for row, label in zip(rows, labels, strict=True) if label == positive]
        neg = [row for row, label in zip(rows, labels, strict=True) if label != positive]
        self.rules = [(positive, *rule[1:]) for rule in self.learn_rule_set(pos, neg, ())]
        self.default = next(each for each in classes if each != positive)
        return self

    def _has_numbers(self, rows: list[Row], feature: str) -> bool:
        return not all(isinstance(row[feature], str) for row in rows)

    def _fit_several(self, rows: list[Row], labels: list[Any]) -> None:
        left = list(zip(rows, labels, strict=True))
        while left:
            counts = Counter(label for _, label in left)
            target = min(counts, key=lambda label: (-counts[label], label))
            pos = [row for row, label in left if label == target]
            neg = [row for row, label in left if label != target]
            rule = self.learn_rule(pos, neg, ())
            if rule is None or not any(covers(rule, row) for row in pos):
                break
            self.rules.append((target, *rule[1:]))
            left = [(row, label) for row, label in left if not covers(rule, row)]
        counts = Counter(label for _, label in left) or Counter(labels)
        self.default = min(counts, key=lambda label: (-counts[label], label))

    def learn_rule_set(
        self, pos: list[Row], neg: list[Row], used: tuple[Literal, ...]
    ) -> tuple[Rule, ...]:
        rules = []
        while pos:
            rule = self.learn_rule(pos, neg, used)
            if rule is None:
                break
            left = [row for row in pos if not covers(rule, row)]
            if len(left) == len(pos):
                break
            rules.append(rule)
            pos = left
        return tuple(rules)

    def learn_rule(self, pos: list[Row], neg: list[Row], used: tuple[Literal, ...]) -> Rule | None:
        literals: tuple[Literal, ...] = ()
        while True:
            literal = self.best_literal(pos, neg, used + literals)
            if literal is None:
                return (None, literals, ()) if literals else None
            literals += (literal,)
            pos = [row for row in pos if holds(literal, row)]
            neg = [row for row in neg if holds(literal, row)]
            if len(pos) < self.fewest:
                return None
            if len(neg) <= self.ratio * len(pos):
                break
        exceptions = self.learn_rule_set(neg, pos, used + literals) if neg else ()
        return None, literals, exceptions

    def best_literal(
        self, pos: list[Row], neg: list[Row], used: tuple[Literal, ...]
    ) -> Literal | None:
        best, chosen = -inf, None
        for feature in self.features:
            for value, literal in self.scored(feature, pos, neg):
                if value > best and literal not in used:
                    best, chosen = value, literal
        return chosen

    def scored(self, feature: str, pos: list[Row], neg: list[Row]) -> list[tuple[float, Literal]]:
        pos_counts = Counter(row[feature] for row in pos)
        neg_counts = Counter(row[feature] for row in neg)
        values = set(pos_counts) | set(neg_counts)
        numbers = sorted(value for value in values if not isinstance(value, str))
        strings = sorted(value for value in values if isinstance(value, str))
        pos_numbers = sum(pos_counts[value] for value in numbers)
        neg_numbers = sum(neg_counts[value] for value in numbers)
        found = []

        def add(sign: str, value: Any, tp: int, fp: int) -> None:
            fn, tn = len(pos) - tp, len(neg) - fp
            found.append((score(tp, fn, tn, fp), (feature, sign, value, False)))
            found.append((score(fn, tp, fp, tn), (feature, sign, value, True)))

        pos_below = 0
        neg_below = 0
        for value in numbers:
            pos_below += pos_counts[value]
            neg_below += neg_counts[value]
            add("=<", value, pos_below, neg_below)
            add(">", value, pos_numbers - pos_below, neg_numbers - neg_below)
        for value in strings:
            add("=", value, pos_counts[value], neg_counts[value])
        return found

    def predict(self, rows: list[Row]) -> list[Any]:
        return [
            next((rule[0] for rule in self.rules if covers(rule, row)), self.default)
            for row in rows
        ]

    def text(self) -> str:
        return "\n".join(program_lines([fold(rule) for rule in self.rules]))

    def size(self) -> tuple[int, int]:
        """Return how many rules are printed, exceptions too, and how many literals."""
        flat = flatten([fold(rule) for rule in self.rules])
        return len(flat), sum(len(literals) for _, literals, _ in flat)


def fold(rule: Rule) -> Rule:
    """Fold exceptions of one literal into the body, then draw the bounds of each feature together."""
    label, literals, exceptions = rule
    body, kept = list(literals), []
    for exception in map(fold, exceptions):
        if len(exception[1]) == 1 and not exception[2]:
            feature, sign, value, negated = exception[1][0]
            body.append((feature, sign, value, not negated))
        else:
            kept.append(exception)
    result = [literal for place, literal in enumerate(body) if literal not in body[:place]]
    strings = [literal for literal in result if literal[1] == "="]
    numbers = []
    for feature in dict.fromkeys(literal[0] for literal in result if literal[1] != "="):
        bounds = [literal for literal in result if literal[0] == feature and literal[1] != "="]
        lower = [
            v for _, sign, v, negated in bounds if (sign, negated) in ((">", False), ("=<", True))
        ]
        upper = [
            v for _, sign, v, negated in bounds if (sign, negated) in (("=<", False), (">", True))
        ]
        open_to_strings = all(negated for *_, negated in bounds)
        if lower:
            numbers.append((feature, "=<" if open_to_strings else ">", max(lower), open_to_strings))
        if upper:
            numbers.append((feature, ">" if open_to_strings else "=<", min(upper), open_to_strings))
    return label, (*strings, *numbers), tuple(kept)


def flatten(rules: list[Rule]) -> list[tuple[str, tuple[Literal, ...], tuple[str, ...]]]:
    """Give every exception a name, inner ones first, equal ones once."""
    names: dict[Rule, str] = {}

    def name(exception: Rule) -> str:
        for inner in exception[2]:
            name(inner)
        if exception not in names:
            names[exception] = f"ab{len(names) + 1}"
        return names[exception]

    flat = [(f"label(X,'{rule[0]}')", rule[1], tuple(map(name, rule[2]))) for rule in rules]
    for exception, called in list(names.items()):
        inner = tuple(names[each] for each in exception[2])
        flat.append((f"{called}(X,'True')", exception[1], inner))
    return flat


def program_lines(rules: list[Rule]) -> list[str]:
    variables: dict[str, str] = {}
    lines = []
    for head, literals, exceptions in flatten(rules):
        parts: list[str] = []
        for feature, sign, value, negated in literals:
            if sign == "=":
                parts.append(f"{'not ' if negated else ''}{feature}(X,'{value}')")
                continue
            variable = variables.setdefault(feature, f"N{len(variables) + 1}")
            atom = f"{feature}(X,{variable})"
            if atom not in parts:
                parts.append(atom)
            test = f"{variable}{sign}{round(value, 3)}"
            parts.append(f"not({test})" if negated else test)
        parts += [f"not {exception}(X,'True')" for exception in exceptions]
        lines.append(f"{head} :- {', '.join(parts)}.")
    return lines
