"""What stands in a review file: candidates and an expert's answers, what makes an answer complete, and both as records.

A review file may be written by anybody, so every value that is read is looked at: what is not of its kind is a
`TypeError` or a `ValueError` that names the key.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from p2c.domain.feature import Law
from p2c.errors import ReviewError, RuleError, suggestion
from p2c.learn.causal.candidate import Candidate, Evidence, Example
from p2c.rules.parse import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")
MOST_ROWS = 10**15
"""More than any table has; the shares of larger counts could not be written."""


class ReviewVerdict(Enum):
    """What an expert says of a candidate; `edited` is approval of another text."""

    APPROVED = "approved"
    REJECTED = "rejected"
    EDITED = "edited"


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """One verdict as it was given: by whom, when and why; `text` is the approved rule, empty where it is rejected.

    `direction` reads `cause, cause -> effect`; `evidence` is what the data say of an edited text, where it was asked.
    """

    rule: str
    verdict: ReviewVerdict
    by: str
    at: str
    why: str
    law: Law | None = None
    direction: str = ""
    text: str = ""
    evidence: Evidence | None = None


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


def approved_text(candidate: Candidate, verdict: ReviewVerdict, given: str | None) -> str:
    """Return the text that is approved; '' for a rejected rule."""
    other = given is not None and not _says_the_same(given, candidate.rule)
    match verdict:
        case ReviewVerdict.REJECTED if given is not None:
            raise refusal(candidate, "a rejected rule has no text: edit it, or leave the text out")
        case ReviewVerdict.REJECTED:
            return ""
        case ReviewVerdict.APPROVED if other:
            raise refusal(candidate, "a text other than the proposed one is 'edited'")
        case ReviewVerdict.APPROVED:
            return candidate.rule
        case ReviewVerdict.EDITED:
            if given is None or not other:
                raise refusal(candidate, "the text is the proposed one: approve it, or change it")
            return given.strip()


def _says_the_same(text: str, rule: str) -> bool:
    try:
        return parse(text) == parse(rule)
    except RuleError:
        return False


def refuse_anonymous(candidate: Candidate, *, by: str, why: str) -> None:
    """Refuse an answer that does not say by whom it is and why."""
    for key, value in (("by", by), ("why", why)):
        if not value.strip():
            raise refusal(candidate, f"'{key}' is empty: an answer says by whom it is and why")


def refusal(candidate: Candidate, message: str) -> ReviewError:
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


def read_candidate(record: Mapping[str, Any]) -> Candidate:
    """Return the candidate of a record."""
    return Candidate(
        id=read_text(record, "id"),
        feature=read_text(record, "feature"),
        rule=read_text(record, "rule"),
        causes=tuple(_of_kind(each, str, "causes") for each in _list(record, "causes")),
        evidence=_read_evidence(read_table(record, "evidence")),
        law=_read_law(record["law"]),
    )


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


def read_answer(record: Mapping[str, Any]) -> ReviewAnswer:
    """Return the answer of a record; one that approves says under which law and which text."""
    verdict = ReviewVerdict(record["verdict"])
    settled = verdict is not ReviewVerdict.REJECTED
    evidence = record.get("evidence")
    return ReviewAnswer(
        rule=read_text(record, "rule"),
        verdict=verdict,
        by=read_text(record, "by"),
        at=read_text(record, "at"),
        why=read_text(record, "why"),
        law=Law(record["law"]) if settled else None,
        direction=read_text(record, "direction") if settled else "",
        text=read_text(record, "text") if settled else "",
        evidence=None if evidence is None else _read_evidence(read_table(record, "evidence")),
    )


def read_text(record: Mapping[str, Any], key: str) -> str:
    """Return a text of a record."""
    return _of_kind(record[key], str, key)


def read_table(record: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return an object inside a record."""
    return _of_kind(record[key], dict, key)


def _evidence_record(evidence: Evidence) -> dict[str, Any]:
    counts = {key: value for key, value in asdict(evidence).items() if key != "examples"}
    return {
        "P(head|body)": round(evidence.precision, 4),
        "P(body|head)": round(evidence.recall, 4),
        **counts,
        "counterexamples": evidence.counterexamples,
        "examples": [{"row": each.row, "values": dict(each.values)} for each in evidence.examples],
    }


def _read_evidence(record: Mapping[str, Any]) -> Evidence:
    rows, support, heads, hits, covered, explained = (
        _count(record, key) for key in ("rows", "support", "heads", "hits", "covered", "explained")
    )
    possible = hits <= min(support, heads) and explained <= min(covered, heads)
    if not possible or max(support, heads, covered) > rows or rows > MOST_ROWS:
        raise ValueError("'evidence', whose counts cannot be those of one table")
    examples = tuple(_read_example(each) for each in _list(record, "examples"))
    return Evidence(rows, support, heads, hits, covered, explained, examples)


def _read_example(given: Any) -> Example:
    record = _of_kind(given, dict, "examples")
    values = read_table(record, "values")
    for each in values.values():
        if isinstance(each, bool) or not isinstance(each, str | int | float | None):
            raise TypeError(f"'values', which hold no {type(each).__name__}")
    return Example(_count(record, "row"), tuple(values.items()))


def _read_law(value: Any) -> Law | None:
    return None if value is None else Law(value)


def _list(record: Mapping[str, Any], key: str) -> list[Any]:
    return _of_kind(record[key], list, key)


def _count(record: Mapping[str, Any], key: str) -> int:
    number = _of_kind(record[key], int, key)
    if number < 0:
        raise ValueError(f"'{key}', which counts something")
    return number


def _of_kind(value: Any, kind: type[T], key: str) -> T:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"'{key}', which is no {type(value).__name__}")
    return value
