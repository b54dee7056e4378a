"""The words of an audit in one language, and its pictures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from p2c._audit.intervals import ELSEWHERE, UNKNOWN
from p2c._explain.letter import teller_in
from p2c._explain.model_reasons import source_words
from p2c._explain.rules import condition_words, rule_words
from p2c._explain.sentences import (
    decision_words,
    filled,
    number_words,
    relation_words,
    rounded,
    value_words,
)
from p2c._report.canvas import Canvas, text_width, wrap
from p2c._rules.theory import ACCEPTED, Call, Relation, Test
from p2c._spec.feature import Action, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c._audit.ground import Limitation
    from p2c._audit.lifting import Statement
    from p2c._audit.spans import Range
    from p2c._markup import Markup
    from p2c._plan.outcome import Blocker
    from p2c._rules.theory import Condition, Theory
    from p2c._spec.feature import Feature


CONDITIONS = 4
"""How many conditions of a region are written out."""


class AuditTeller:
    """Says things about many people of one problem in one language."""

    def __init__(self, theory: Theory, language: str) -> None:
        self.language = language
        self.teller = teller_in(theory, language)
        self.phrases = self.teller.phrases
        self.words = self.phrases.audit

    @property
    def theory(self) -> Theory:
        """Return the problem with its words in this language."""
        return self.teller.theory

    def say(self, key: str, **words: str | int) -> str:
        """Return a phrase with its places filled, whole numbers as people write them."""
        told = {each: w if isinstance(w, str) else self.count(w) for each, w in words.items()}
        return filled(self.words[key], **told)

    def number(self, number: float) -> str:
        """Return a number as people write it, with the digits that say something of many people."""
        return number_words(rounded(number, digits=3), self.phrases)

    def count(self, number: int) -> str:
        """Return a whole number as people write it."""
        return number_words(number, self.phrases)

    def percent(self, share: float | None) -> str:
        """Return a share in hundredths, with one digit more where it is small."""
        if share is None:
            return "–"
        digits = 1 if abs(share) >= 0.0005 or share == 0 else 3
        shown = number_words(round(share * 100, digits), self.phrases)
        return filled(self.phrases.percent, share=shown)

    def out_of(self, count: int, of: int) -> str:
        """Return a count with what it is of."""
        share = self.percent(count / of)
        return self.say("why_bar", count=count, of=of, share=share)

    def barred(self, blockers: Sequence[Blocker]) -> str:
        """Return what restrictions that hold together say."""
        told = [self.teller.restriction(each, of_many=True) for each in blockers]
        return self.words["and"].join(told) or self.words["rules_alone"]

    def statement(self, statement: Statement) -> str:
        """Return what bars people, with what might be lifted in its place."""
        ways = (statement.blockers, *statement.instead)
        return self.words["or_as_well"].join(map(self.barred, ways))

    def source(self) -> str:
        """Say how far rules speak for what they were learned from, where they decide; nothing where others do."""
        theory = self.theory
        return source_words(theory.source, self.phrases) if theory.source else ""

    def group(self, traits: Sequence[tuple[str, str]]) -> str:
        """Return the name of a group, with the words of the problem and of the language."""
        return ", ".join(f"{self.column(c)}: {self._trait(c, value)}" for c, value in traits)

    def column(self, name: str) -> str:
        """Return the label of a column in this language; its name without a label."""
        return self.teller.label(name) if self._is_worded(name) else name

    def _is_worded(self, name: str) -> bool:
        feature = self.theory.feature.get(name)
        return feature is not None and self.language in dict(feature.languages)

    def _trait(self, column: str, value: str) -> str:
        feature = self.theory.feature.get(column)
        if feature is not None and feature.is_listed and value in feature.places:
            return self.teller.value(column, value) if self._is_worded(column) else value
        words = {UNKNOWN: self.words["no_value"], ELSEWHERE: self.words["elsewhere"]}
        return words.get(value, value)

    def goal(self) -> str:
        """Return what counts as a yes."""
        return self.words["and"].join(map(self._condition, self.theory.goal))

    def _condition(self, condition: Condition) -> str:
        if isinstance(condition, Test):
            return condition_words(self.theory, condition, self.phrases)
        if isinstance(condition, Relation):
            return relation_words(self.theory, condition, self.phrases)
        if condition.decision == ACCEPTED:
            return self.words["goal_refuses" if condition.negated else "goal_accepts"]
        decision = decision_words(condition.decision, self.phrases)
        return self.say("goal_not" if condition.negated else "goal_holds", decision=decision)

    def decisions(self) -> tuple[str, ...]:
        """Return the rules of the decision in words; none where a model decides."""
        asked = [each.decision for each in self.theory.goal if isinstance(each, Call)]
        ruled = [self.theory.rules_for.get(each, ()) for each in asked if each != ACCEPTED]
        return tuple(rule_words(self.theory, each, self.phrases) for some in ruled for each in some)

    def rule(self, text: str) -> str:
        """Return a rule in words."""
        clause = self.theory.clause_of.get(text)
        return text if clause is None else rule_words(self.theory, clause, self.phrases)

    def told(self, limitations: Sequence[Limitation]) -> str:
        """Return a region in words: its first conditions, and how many more it has."""
        # That a value is known says less than a range or names do.
        telling = sorted(limitations, key=lambda each: each.is_only_known)
        shown, rest = telling[:CONDITIONS], len(telling[CONDITIONS:])
        said = self.words["and"].join(map(self._limitation, shown)) or self.words["anybody"]
        return said + (self.say("more_conditions", count=rest) if rest else "")

    def _limitation(self, each: Limitation) -> str:
        label, feature = self.teller.label(each.feature), self.theory.feature[each.feature]
        parts = [self.say("is_unknown", label=label)] * each.missing
        if each.names:
            rest = [name for name in feature.places if name not in each.names]
            few = 0 < len(rest) < len(each.names) and not feature.kept
            names = [
                self.teller.value(each.feature, name) for name in (rest if few else each.names)
            ]
            values = self.words["or"].join(self.say("quoted", value=name) for name in names)
            key = ("is_not" if few else "is_one") if rest else "known"
            parts.append(self.say(key, label=label, values=values))
        parts += [self._span(each.feature, span) for span in each.spans]
        return self.words["or"].join(parts)

    def _span(self, name: str, span: Range) -> str:
        """Return an interval of a number in words."""
        label = self.teller.label(name)
        low, high = (
            "" if end is None else self.teller.value(name, end) for end in (span.low, span.high)
        )
        if low and low == high:
            return self.say("is_one", label=label, values=low)
        if low and high and span.low_closed and span.high_closed:
            return self.say("between", label=label, low=low, high=high)
        ends = []
        if low:
            key = "at_least" if span.low_closed else "above"
            ends.append(self.say(key, label=label, low=low))
        if high:
            key = "at_most" if span.high_closed else "below"
            ends.append(self.say(key, label=label, high=high))
        return self.words["and"].join(ends) or self.say("known", label=label)

    def norm(self) -> str:
        """Return how the efforts of several changes come together."""
        return self.phrases.pages[self.theory.norm.value]

    def as_change(self, effort: float, features: Sequence[str]) -> str:
        """Say how far the first of some features that is a number goes with an effort; nothing where none is."""
        for feature in (self.theory.feature[name] for name in features if name):
            worth = self._worth(feature) if self.theory.norm.by_distance else 0.0
            if feature.kind.is_number and not feature.names and worth:
                far = effort / worth * float(feature.divisor)
                return self.say("as_change", **self._amount(feature, far))
        return ""

    def counted(self, features: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield what people may change themselves, some features first, and how a change of it counts."""
        for name in dict.fromkeys((*filter(None, features), *self.theory.feature)):
            feature = self.theory.feature[name]
            if feature.kept or feature.action in (Action.FIXED, Action.EFFECT):
                continue
            worth, key = self._worth(feature), "counts_change"
            if self.theory.norm.by_distance and worth and feature.kind.is_number:
                amount = self._amount(feature, float(feature.divisor) / worth)
                yield amount["label"], self.say("counts_one", **amount)
                continue
            if self.theory.norm.by_distance and feature.kind is Kind.ORDINAL:
                worth, key = worth / float(feature.divisor), "counts_step"
            yield self.teller.label(name), self.say(key, worth=self.number(worth))

    def _worth(self, feature: Feature) -> float:
        """Return what a change of length 1 costs where it is the only one."""
        return self.theory.norm.root(feature.weight)

    def _amount(self, feature: Feature, far: float) -> dict[str, str]:
        amount = value_words(replace(feature, names=()), rounded(far, digits=3), self.phrases)
        return {"label": self.teller.label(feature.name), "amount": amount}


WIDTH, LEFT, RIGHT = 760.0, 70.0, 230.0
HIGH = 260.0
COLOURS = ("text", "direct", "effect-line", "goal-text", "muted")
"""The colours of curves, which light and dark pages have; further curves are thin."""
BAR, GAP = 18.0, 10.0


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points, with its name."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A count with its name, and what is written beside it."""

    name: str
    count: float
    told: str


def curves_svg(
    curves: Sequence[Curve], *, axes: tuple[str, str], title: str, told: str, language: str
) -> str:
    """Draw shares of people, from 0 to 1, over what a yes costs."""
    canvas = Canvas()
    most = max((x for curve in curves for x, _ in curve.points), default=0.0) or 1.0
    across = WIDTH - LEFT - RIGHT

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + x / most * across, 20 + (1 - y) * HIGH

    shapes: list[Markup] = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = place(0, share)
        shapes += [
            canvas.path(f"M{x:.1f} {y:.1f}L{x + across:.1f} {y:.1f}", stroke="line", width=1),
            canvas.words([f"{share:.0%}"], (x - 8, y), size=12, fill="muted", anchor="end"),
        ]
    for part in range(5):
        x, y = place(most * part / 4, 0)
        shapes.append(canvas.words([f"{most * part / 4:.3g}"], (x, y + 14), size=12, fill="muted"))
    shapes.append(canvas.words([axes[0]], (LEFT + across / 2, HIGH + 56), size=13, fill="muted"))
    shapes.append(canvas.words([axes[1]], (LEFT, 8), size=13, fill="muted", anchor="start"))
    for number, curve in enumerate(curves):
        colour, width = COLOURS[number % len(COLOURS)], 2.5 if number < len(COLOURS) else 1.0
        line = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*each) for each in curve.points))
        top = 28 + number * 22
        shapes += [
            canvas.path(f"M{line}", stroke=colour, width=width),
            canvas.path(f"M{WIDTH - RIGHT + 16} {top}h20", stroke=colour, width=width),
            canvas.words(
                wrap(curve.name, RIGHT - 44, 12, most=1),
                (WIDTH - RIGHT + 42, top),
                size=12,
                anchor="start",
            ),
        ]
    size = (WIDTH, max(HIGH + 72, 40 + 22 * len(curves)))
    return canvas.drawing(size, shapes, title=title, told=told, language=language)


def bars_svg(bars: Sequence[Bar], *, title: str, told: str, language: str) -> str:
    """Draw counts below one another, each with its name above it."""
    canvas = Canvas()
    most = max((bar.count for bar in bars), default=0) or 1
    room = WIDTH - 20 - max(text_width(bar.told, 12) for bar in bars) - 10
    shapes: list[Markup] = []
    top = 8.0
    for bar in bars:
        lines = wrap(bar.name, WIDTH - 20, 13, most=4)
        height = 17.0 * len(lines)
        wide = max(bar.count / most * room, 1.0)
        shapes += [
            canvas.words(lines, (10, top + height / 2), size=13, anchor="start"),
            canvas.box((10, top + height), (wide, BAR), fill="direct"),
            canvas.words([bar.told], (18 + wide, top + height + BAR / 2), size=12, anchor="start"),
        ]
        top += height + BAR + GAP
    return canvas.drawing((WIDTH, top), shapes, title=title, told=told, language=language)
