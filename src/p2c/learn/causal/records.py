"""Candidates and answers as records of a review file, and back.

A review file may be written by anybody, so every value that is read is looked at: what is not of its kind is a
`TypeError` or a `ValueError` that names the key.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

from p2c.domain.feature import Law
from p2c.learn.causal.candidate import Candidate, Evidence, Example
from p2c.learn.causal.verdict import ReviewAnswer, ReviewVerdict

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")
MOST_ROWS = 10**15
"""More than any table has; the shares of larger counts could not be written."""


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
