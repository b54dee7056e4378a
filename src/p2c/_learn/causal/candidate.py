"""Causal candidates with their evidence, answers of an expert, and records."""

from __future__ import annotations

from dataclasses import asdict
from enum import Enum
from typing import TYPE_CHECKING, Any, Self

from pydantic import StrictStr, TypeAdapter, model_validator
from pydantic.dataclasses import dataclass

from p2c._learn.relations.relation import Count, Example, Relation
from p2c._rules.parse import parse
from p2c._spec.feature import Law
from p2c.errors import ReviewError, RuleError, counted, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable


MOST_ROWS = 10**15
"""More than any table has; the shares of larger counts could not be written."""
CONVINCING = 0.9
"""The share of rows, nine in ten, from which on a direction of a rule is suggested as a law."""
HALVED = 0.5
"""What part of the misses of a blind guess may be left, for nine in ten is no feat where nearly every row has the head."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rows say of a rule.

    Of `rows`, the body holds in `support`, the head in `heads`, both in `hits`. In `covered` rows the body of this rule
    or of another candidate with the same head holds, in `explained` of these the head does. `examples` are the first
    rows with the body and without the head.
    """

    rows: Count
    support: Count
    heads: Count
    hits: Count
    covered: Count
    explained: Count
    examples: tuple[Example, ...] = ()

    @model_validator(mode="after")
    def _of_one_table(self) -> Self:
        possible = self.hits <= min(self.support, self.heads)
        possible &= self.explained <= min(self.covered, self.heads)
        if (
            not possible
            or not max(self.support, self.heads, self.covered) <= self.rows <= MOST_ROWS
        ):
            raise ValueError("'evidence', whose counts cannot be those of one table")
        return self

    @property
    def precision(self) -> float:
        """Return P(head|body)."""
        return self.hits / max(self.support, 1)

    @property
    def recall(self) -> float:
        """Return P(body|head)."""
        return self.hits / max(self.heads, 1)

    @property
    def recall_together(self) -> float:
        """Return P(some body|head), over all candidates with the same head."""
        return self.explained / max(self.heads, 1)

    @property
    def base(self) -> float:
        """Return P(head), what a rule has to beat."""
        return self.heads / max(self.rows, 1)

    @property
    def counterexamples(self) -> int:
        """Return how many rows have the body without the head."""
        return self.support - self.hits

    def exceptions(self, law: Law) -> int:
        """Return how many rows break the law where this rule is the only one for its head.

        `if` and `iff` are broken by the body without the head, `only_if` and `iff` by the head without the body.
        """
        return _broken(law, self.counterexamples, self.heads - self.hits)

    def exceptions_together(self, law: Law) -> int:
        """Return how many rows break the law where every candidate for the same head is a rule too."""
        return _broken(law, self.covered - self.explained, self.heads - self.explained)


def _broken(law: Law, missed: int, unexplained: int) -> int:
    return {Law.IF: missed, Law.ONLY_IF: unexplained, Law.IFF: missed + unexplained}[law]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposed rule: `rule` is its text with its exceptions, one rule a line; `causes` is what it reads.

    `law` is what the evidence suggests, None where neither direction convinces and an expert has to say.
    """

    id: StrictStr
    feature: StrictStr
    rule: StrictStr
    causes: tuple[StrictStr, ...]
    evidence: Evidence
    law: Law | None

    @property
    def text(self) -> str:
        """Return the rule, by the name that relations have for their text."""
        return self.rule


def suggest_law(evidence: Evidence) -> Law | None:
    """Return the law whose every direction convinces, the strongest first.

    Where the body holds, so does the head (`if`): P(head|body). Where the head holds, so does a body (`only_if`):
    P(some body|head). Both: `iff`. A direction convinces from nine rows in ten on, where it also errs at most half as
    often as a guess that knows P(head), or P(some body), alone.
    """
    sufficient = _convinces(evidence.precision, evidence.base)
    necessary = _convinces(evidence.recall_together, evidence.covered / max(evidence.rows, 1))
    if sufficient and necessary:
        return Law.IFF
    if sufficient:
        return Law.IF
    return Law.ONLY_IF if necessary else None


def _convinces(share: float, blind: float) -> bool:
    return share >= CONVINCING and 1 - share <= HALVED * (1 - blind)


def render_graph(candidates: Iterable[Candidate]) -> str:
    """Write who causes whom: below each effect its causes, one arrow a line, with the best P(head|body) of its candidates.

    Where others draw an arrow the other way round too, it has two heads: data alone seldom tell a cause from its effect.
    """
    arrows: dict[tuple[str, str], list[float]] = {}
    for each in candidates:
        for cause in each.causes:
            arrows.setdefault((each.feature, cause), []).append(each.evidence.precision)
    lines: dict[str, list[str]] = {}
    for effect, cause in sorted(
        arrows, key=lambda arrow: (arrow[0], -len(arrows[arrow]), arrow[1])
    ):
        shares = arrows[effect, cause]
        mutual = (cause, effect) in arrows
        both = "; the other way round too" if mutual else ""
        told = f"{counted(len(shares), 'rule')}, P(head|body) up to {max(shares):.1%}{both}"
        lines.setdefault(effect, [effect]).append(f"  {'<->' if mutual else '<-'} {cause}: {told}")
    return "\n".join(line for group in lines.values() for line in group)


class ReviewVerdict(Enum):
    """What an expert says of a candidate; `edited` is approval of another text."""

    APPROVED = "approved"
    REJECTED = "rejected"
    EDITED = "edited"


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """One verdict on a candidate.

    `text` is the approved text, empty where it is rejected. `direction` reads `cause, cause -> effect`; `evidence` is what the data say of an edited rule, where it was asked. A
    relation has no `law`.
    """

    rule: StrictStr
    verdict: ReviewVerdict
    by: StrictStr
    at: StrictStr
    why: StrictStr
    law: Law | None = None
    direction: StrictStr = ""
    text: StrictStr = ""
    evidence: Evidence | None = None

    @model_validator(mode="after")
    def _says_all(self) -> Self:
        needed = () if self.verdict is ReviewVerdict.REJECTED else ("direction", "text")
        for key in needed:
            if not getattr(self, key):
                raise ValueError(f"'{key}'")
        return self


def read_verdict(given: ReviewVerdict | str) -> ReviewVerdict:
    """Return the verdict that a word names."""
    known = {each.value: each for each in ReviewVerdict}
    word = given.value if isinstance(given, ReviewVerdict) else given
    if word not in known:
        raise ReviewError(f"no verdict '{word}'; {suggestion(word, known)}")
    return known[word]


def approved_law(candidate: Candidate, given: Law | str | None) -> Law:
    """Return the law that is approved: the one given, else the suggested one."""
    if given is None:
        if candidate.law is None:
            raise refusal(candidate, "the data suggest no law: say 'if', 'only_if' or 'iff'")
        return candidate.law
    known = {each.value: each for each in Law}
    word = given.value if isinstance(given, Law) else given
    if word not in known:
        raise refusal(candidate, f"no law '{word}'; {suggestion(word, known)}")
    return known[word]


def approved_text(
    candidate: Candidate | Relation, verdict: ReviewVerdict, edited: str | None
) -> str:
    """Return the text that is approved; '' for a rejected candidate."""
    other = edited is not None and not _says_the_same(edited, candidate.text)
    match verdict:
        case ReviewVerdict.REJECTED if edited is not None:
            raise refusal(candidate, "a rejected rule has no text: edit it, or leave the text out")
        case ReviewVerdict.REJECTED:
            return ""
        case ReviewVerdict.APPROVED if other:
            raise refusal(candidate, "a text other than the proposed one is 'edited'")
        case ReviewVerdict.APPROVED:
            return candidate.text
        case ReviewVerdict.EDITED:
            if edited is None or not other:
                raise refusal(candidate, "the text is the proposed one: approve it, or change it")
            return edited.strip()


def _says_the_same(text: str, rule: str) -> bool:
    if text.split() == rule.split():
        return True
    try:
        return parse(text) == parse(rule)
    except RuleError:
        return False


def refuse_anonymous(candidate: Candidate | Relation, *, by: str, why: str) -> None:
    """Refuse an answer that does not say by whom it is and why."""
    for key, value in (("by", by), ("why", why)):
        if not value.strip():
            raise refusal(candidate, f"'{key}' is empty: an answer says by whom it is and why")


def refusal(candidate: Candidate | Relation, message: str) -> ReviewError:
    """Return the error of an answer that is not taken."""
    return ReviewError(f"{candidate.id}: {message}", rules=[candidate.id])


def record_of(entry: Candidate | Relation | ReviewAnswer) -> dict[str, Any]:
    """Return an entry as a record of a review file, without the keys that an answer lacks."""
    kinds = {Candidate: "candidate", ReviewAnswer: "answer"}
    plain: dict[str, Any] = {"record": kinds.get(type(entry), "relation")}
    plain |= TypeAdapter(type(entry)).dump_python(entry, mode="json")
    if isinstance(entry, Relation):
        plain["examples"] = _example_records(entry.examples)
        return plain
    evidence = None if entry.evidence is None else _evidence_record(entry.evidence)
    plain["evidence"] = evidence
    if isinstance(entry, Candidate):
        return plain
    return {key: value for key, value in plain.items() if value not in ("", None)}


def _evidence_record(evidence: Evidence) -> dict[str, Any]:
    """Return the counts with the shares that a reader wants beside them."""
    return {
        "P(head|body)": round(evidence.precision, 4),
        "P(body|head)": round(evidence.recall, 4),
        **asdict(evidence),
        "counterexamples": evidence.counterexamples,
        "examples": _example_records(evidence.examples),
    }


def _example_records(examples: Iterable[Example]) -> list[dict[str, Any]]:
    return [{"row": each.row, "values": dict(each.values)} for each in examples]
