"""Candidates and answers as records of a review file, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from p2c.domain.feature import Law
from p2c.learn.candidate import Candidate, Evidence, Example
from p2c.learn.verdict import Answer, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping


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
        id=record["id"],
        feature=record["feature"],
        rule=record["rule"],
        causes=tuple(record["causes"]),
        evidence=_read_evidence(record["evidence"]),
        law=_read_law(record["law"]),
    )


def answer_record(answer: Answer) -> dict[str, Any]:
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


def read_answer(record: Mapping[str, Any]) -> Answer:
    """Return the answer of a record."""
    evidence = record.get("evidence")
    return Answer(
        rule=record["rule"],
        verdict=Verdict(record["verdict"]),
        by=record["by"],
        at=record["at"],
        why=record["why"],
        law=_read_law(record.get("law")),
        direction=record.get("direction", ""),
        text=record.get("text", ""),
        evidence=_read_evidence(evidence) if evidence else None,
    )


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
    examples = tuple(
        Example(each["row"], tuple(each["values"].items())) for each in record["examples"]
    )
    return Evidence(
        rows=record["rows"],
        support=record["support"],
        heads=record["heads"],
        hits=record["hits"],
        covered=record["covered"],
        explained=record["explained"],
        examples=examples,
    )


def _read_law(value: str | None) -> Law | None:
    return None if value is None else Law(value)
