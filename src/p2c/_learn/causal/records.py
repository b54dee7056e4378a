"""Answers of an expert to candidates, and both as records of a review file.

A review file may be written by anybody, so pydantic looks at every value that is read.
"""

from __future__ import annotations

from dataclasses import asdict
from enum import Enum
from typing import TYPE_CHECKING, Any, Self

from pydantic import StrictStr, model_validator
from pydantic.dataclasses import dataclass

from p2c._learn.causal.candidate import Evidence  # noqa: TC001 - pydantic needs it at run time
from p2c._rules.parse import parse
from p2c._spec.feature import Law
from p2c.errors import ReviewError, RuleError, suggestion

if TYPE_CHECKING:
    from p2c._learn.causal.candidate import Candidate
    from p2c._learn.relations.relation import Relation


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


def candidate_record(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as a record, the shares that a reader wants beside the counts."""
    return {
        "record": "candidate",
        "id": candidate.id,
        "feature": candidate.feature,
        "causes": list(candidate.causes),
        "rule": candidate.rule,
        "law": candidate.law.value if candidate.law else None,
        "evidence": _evidence_record(candidate.evidence),
    }


def relation_record(relation: Relation) -> dict[str, Any]:
    """Return a relation as a record of a review file."""
    return {
        "record": "relation",
        "id": relation.id,
        "kind": relation.kind.value,
        "features": list(relation.features),
        "text": relation.text,
        "rows": relation.rows,
        "holds": relation.holds,
        "examples": [{"row": each.row, "values": dict(each.values)} for each in relation.examples],
    }


def answer_record(answer: ReviewAnswer) -> dict[str, Any]:
    """Return an answer as a record, without what it has not."""
    plain = {
        "record": "answer",
        "rule": answer.rule,
        "verdict": answer.verdict.value,
        "law": answer.law.value if answer.law else None,
        "direction": answer.direction,
        "text": answer.text,
        "by": answer.by,
        "at": answer.at,
        "why": answer.why,
        "evidence": _evidence_record(answer.evidence) if answer.evidence else None,
    }
    return {key: value for key, value in plain.items() if value not in ("", None)}


def _evidence_record(evidence: Evidence) -> dict[str, Any]:
    counts = {key: value for key, value in asdict(evidence).items() if key != "examples"}
    return {
        "P(head|body)": round(evidence.precision, 4),
        "P(body|head)": round(evidence.recall, 4),
        **counts,
        "counterexamples": evidence.counterexamples,
        "examples": [{"row": each.row, "values": dict(each.values)} for each in evidence.examples],
    }
