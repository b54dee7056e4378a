"""Facts about a person behind a claim, and a model's own reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from p2c._blackbox.forcing import forcing
from p2c._explain.phrases import ENGLISH
from p2c._explain.sentences import (
    Sentence,
    as_sentence,
    compared_words,
    filled,
    label_words,
    number_words,
    relation_of,
    statement_words,
)
from p2c._markup import clean, element
from p2c._plan.search.best_first import Limits
from p2c._rules.evaluate import goal_holds
from p2c._rules.proof import Compared
from p2c._rules.syntax import Comparator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Self

    from p2c._blackbox.forcing import Forcing
    from p2c._explain.phrases import Phrases
    from p2c._rules.proof import ProofNode
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value
    from p2c._spec.spec import SourceSpec


MOST_FACTS = 8
"""How many facts one reason tells before it only counts the others."""


def facts(theory: Theory, nodes: Iterable[ProofNode], phrases: Phrases) -> tuple[str, ...]:
    """Return what some claims rest on, as clauses that say how each value stands to what is asked.

    The values that a feature does not have share a clause.
    """
    grouped: dict[object, tuple[Comparator, list[Compared]]] = {}
    for claim, relation in _leaves(nodes):
        is_other = relation is Comparator.NE and claim.value is not None
        key = claim.test.feature if is_other else (claim, relation)
        grouped.setdefault(key, (relation, []))[1].append(claim)
    told = (
        compared_words(theory, claims, relation, phrases) for relation, claims in grouped.values()
    )
    return _first_few(told, phrases)


def circumstances(theory: Theory, nodes: Iterable[ProofNode], phrases: Phrases) -> tuple[str, ...]:
    """Return what some claims rest on, as clauses that only say which values there are."""
    known = ((theory.feature[claim.test.feature], claim.value) for claim, _ in _leaves(nodes))
    return _first_few((statement_words(*each, phrases) for each in known), phrases)


def _leaves(nodes: Iterable[ProofNode]) -> Iterator[tuple[Compared, Comparator]]:
    for leaf in (each for node in nodes for each in node.leaves()):
        if isinstance(leaf.claim, Compared):
            yield leaf.claim, relation_of(leaf.claim, holds=leaf.holds)


def _first_few(clauses: Iterable[str], phrases: Phrases) -> tuple[str, ...]:
    told = list(dict.fromkeys(clauses))
    if len(told) > MOST_FACTS:
        told = [*told[:MOST_FACTS], more_words(len(told) - MOST_FACTS, phrases)]
    return tuple(told) or (phrases.always,)


def more_words(count: int, phrases: Phrases) -> str:
    """Return the clause that counts what is left out."""
    return phrases.one_more_fact if count == 1 else filled(phrases.more_facts, count=str(count))


def proved_by(theory: Theory, phrases: Phrases = ENGLISH) -> str:
    """Return what follows the word "proved": nothing, or by which learned rules."""
    by = rules_words(theory, phrases)
    return f" {by}" if by else ""


def rules_words(theory: Theory, phrases: Phrases = ENGLISH) -> str:
    """Say how far learned rules agree with what they were learned from; nothing where somebody wrote the rules."""
    return source_words(theory.source, phrases) if theory.source else ""


def source_words(source: SourceSpec, phrases: Phrases = ENGLISH) -> str:
    """Say how far the rules agree with what they were learned from."""
    if source.fidelity is None:
        return phrases.learned_from[source.origin.value]
    # Rules that are not always right are never shown to be.
    share = 100.0 if source.fidelity == 1 else min(round(source.fidelity * 100, 1), 99.9)
    written = filled(phrases.percent, share=number_words(share, phrases))
    return filled(phrases.agree_with[source.origin.value], share=written)


def caveats(
    theory: Theory, state: Mapping[str, Value], phrases: Phrases = ENGLISH, *, rules: bool = True
) -> tuple[str, ...]:
    """Return the sentences that an answer needs beside it; `rules` for what is to be said of learned ones."""
    told = []
    missing = theory.missing(state)
    if missing:
        labels = ", ".join(label_words(theory.feature[name]) for name in missing)
        told.append(clean(filled(phrases.rests_on_unknown, labels=labels)))
    by = rules_words(theory, phrases)
    if by and rules:
        told.append(filled(phrases.given_by, by=by))
    return tuple(told)


R = TypeVar("R")
MOST_STATES = 2_000
"""How many boxes of states are looked at for the fewest values that force a refusal, before some do of which none can be spared."""


@dataclass(frozen=True)
class ModelReasons:
    """What a model says of a state and why.

    `forcing` names features whose values force its no, whatever the others are within their domains, and none of which can be
    spared; None where the model was not `read`, says yes, or such a set was not found.
    """

    theory: Theory
    state: Mapping[str, Value]
    accepted: bool
    read: bool
    forcing: tuple[str, ...] | None
    smallest: bool = True
    """Whether it is proved that no fewer force it."""
    by_rules: bool = False
    """Whether rules stand in the model's place, where it is only asked."""
    explained: bool = True
    """Whether what decides in their place comes to the same answer, so that it can tell why."""

    def sentences(self, phrases: Phrases = ENGLISH) -> tuple[Sentence, ...]:
        """Return what the model says in words: what leads in, then the values that force it."""
        if self.forcing:
            facts = (self._stated(name, phrases) for name in self.forcing)
            return (
                Sentence(phrases.model_forced if self.smallest else phrases.model_forced_perhaps),
                *(Sentence(as_sentence(each, phrases), 1) for each in facts),
            )
        lead = phrases.model_says_yes if self.accepted else phrases.model_says_no
        behind = phrases.model_reasons if self.explained else phrases.model_unexplained
        return (Sentence(lead), *((Sentence(behind),) if self.by_rules else ()))

    def _stated(self, name: str, phrases: Phrases) -> str:
        feature, value = self.theory.feature[name], self.state[name]
        if value is not None:
            return statement_words(feature, value, phrases)
        # The feature's own phrase is about a value that there is.
        return filled(phrases.statement, label=label_words(feature), value=phrases.unknown)

    @property
    def leaves_to_rules(self) -> bool:
        """Tell whether the proof by rules in the model's place is to be told: the model is only asked, and they agree with it."""
        return not self.read and self.explained

    def to_dict(self) -> dict[str, Any]:
        """Return what the model says and the values that force it, as JSON."""
        forcing = None if self.forcing is None else list(self.forcing)
        told = {"accepted": self.accepted, "read": self.read, "forcing": forcing}
        return told if forcing is None else {**told, "smallest": self.smallest}


class Reasons(tuple[R, ...]):
    """Reasons for a no: a tuple that tells itself in a notebook."""

    lines: tuple[str, ...]
    """What it tells: the lead, and a sentence for each reason."""
    smallest: bool
    """Whether it is proved that there are no fewer reasons that do."""

    def __new__(
        cls, reasons: Iterable[R], lines: Iterable[str] = (), *, smallest: bool = True
    ) -> Self:
        """Return reasons that tell themselves by the lines."""
        found = super().__new__(cls, reasons)
        found.lines, found.smallest = tuple(lines), smallest
        return found

    @staticmethod
    def of(theory: Theory, state: Mapping[str, Value], held: Forcing) -> Reasons[str]:
        """Return the features whose values force a model's no, by name."""
        names, smallest = held
        told = ModelReasons(theory, state, False, True, names, smallest).sentences()
        return Reasons(names, (each.text for each in told), smallest=smallest)

    def _repr_html_(self) -> str:
        lead, *facts = self.lines
        items = [element("li", None, fact) for fact in facts]
        return str(element("div", None, element("p", None, lead), element("ul", None, *items)))


def reasons_of(theory: Theory, state: Mapping[str, Value], limits: Limits) -> Reasons[str] | None:
    """Return the features whose values together force a parsed model's refusal.

    Returns:
        A tuple of names; None where the goal is met or the limit was reached. `smallest` is false where there was only
        time for a set without a value that can be spared.
    """
    found = forcing(theory, state, limits)
    return None if found is None else Reasons.of(theory, state, found)


def model_reasons(
    theory: Theory,
    state: Mapping[str, Value],
    *,
    stand_in: Theory | None = None,
    time_limit: float | None = None,
) -> ModelReasons | None:
    """Return what the model of a problem says and why, within so many seconds; None where rules decide."""
    if theory.model is None:
        return None
    accepted = theory.model.accepts(state)
    by_rules = stand_in is not None and stand_in.model is None
    explained = stand_in is None or goal_holds(stand_in, state) == goal_holds(theory, state)
    read = not theory.model.opaque
    found = None
    if read and not accepted:
        found = forcing(theory, state, Limits.within(time_limit, MOST_STATES))
    names, smallest = found or (None, True)
    return ModelReasons(
        theory, state, accepted, read, names, smallest, by_rules=by_rules, explained=explained
    )
