"""The review of candidates by an expert: nothing that data suggest is used until someone has approved it.

A review is a file that only grows (`p2c._learn.causal.journal`): the domains of the features, the candidates with their
evidence, and every answer ever given. The last answer to a rule counts; the ones before it stay to be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import StrictStr, ValidationError
from pydantic.dataclasses import dataclass as checked

from p2c._learn.causal.candidate import (
    Candidate,
    ReviewAnswer,
    ReviewVerdict,
    approved_law,
    approved_text,
    read_verdict,
    record_of,
    refusal,
    refuse_anonymous,
)
from p2c._learn.causal.contradictions import Proposal, read_proposal, refuse_contradictions
from p2c._learn.causal.journal import create_journal, read_journal
from p2c._learn.relations.relation import Relation, merged, read_declared
from p2c._spec.feature import Law
from p2c.errors import ReviewError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from p2c._learn.causal.candidate import Evidence
    from p2c._learn.causal.journal import Journal
    from p2c._learn.relations.relation import Declared

FORMAT = "p2c review 1"


@checked(frozen=True)
class _Domain:
    """A feature of a review file."""

    name: StrictStr
    keys: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Approved:
    """The approved rules and relations.

    `text` has each rule below a line that says who approved it, `laws` the law of each effect; `declared` are the
    equations, rules and groups of relations.
    """

    text: str
    laws: dict[str, Law]
    rules: tuple[Proposal, ...]
    declared: Declared


@dataclass
class Review:
    """A review file in use: what was read of it, and what was answered since."""

    journal: Journal
    features: dict[str, dict[str, Any]] = field(default_factory=dict)
    candidates: dict[str, Candidate | Relation] = field(default_factory=dict)
    answers: list[ReviewAnswer] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """Return the file."""
        return self.journal.path

    @property
    def torn(self) -> tuple[int, ...]:
        """Return the lines that were cut short while being written and are passed over."""
        return self.journal.torn

    def verdicts(self) -> dict[str, ReviewAnswer]:
        """Return the answer that counts for each rule that has one: its last."""
        return {answer.rule: answer for answer in self.answers}

    def history(self, rule_id: str) -> tuple[ReviewAnswer, ...]:
        """Return every answer to a rule, the oldest first."""
        return tuple(answer for answer in self.answers if answer.rule == rule_id)

    def pending(self) -> tuple[Candidate | Relation, ...]:
        """Return the candidates without an answer."""
        answered = self.verdicts()
        return tuple(each for each in self.candidates.values() if each.id not in answered)

    def open_relations(self) -> tuple[Relation, ...]:
        """Return the relations without an answer."""
        return tuple(each for each in self.pending() if isinstance(each, Relation))

    def approved(self) -> Approved:
        """Return the rules approved so far, whatever is pending; a contradiction among them is an error."""
        counting = self.verdicts()
        rules = self._proposals()
        refuse_contradictions(rules, self.features)
        unique = {each.text: each for each in reversed(rules)}.values()
        parts = [f"% {_credit(counting[each.id])}\n{each.text}" for each in reversed(unique)]
        laws = {each.feature: each.law for each in rules}
        declared = merged(self._declared())
        for relation, each in self._declared():
            if each.rules:
                parts.append(f"% {_credit(counting[relation])}\n{each.rules}")
            for name in each.heads:
                if name in laws:
                    message = f"{relation}: an approved rule has '{name}' as its effect: reject one of the two"
                    raise ReviewError(message, rules=[relation])
        laws |= {name: Law.IFF for name in declared.heads if name not in declared.equations}
        return Approved("\n".join(parts), laws, rules, declared)

    def decide(
        self,
        rule_id: str,
        verdict: ReviewVerdict | str,
        *,
        by: str,
        why: str,
        law: Law | str | None = None,
        rule: str | None = None,
        evidence: Evidence | None = None,
    ) -> ReviewAnswer:
        """Answer one candidate and append the answer to the file; what cannot hold is refused and not written.

        `law` is the suggested one unless given, `rule` the text of an edited rule and `evidence` what the data say of
        that text.
        """
        candidate = self.candidate(rule_id)
        chosen = read_verdict(verdict)
        refuse_anonymous(candidate, by=by, why=why)
        text = approved_text(candidate, chosen, rule)
        settled, direction = None, ""
        if isinstance(candidate, Relation):
            direction = self._relation_direction(candidate, text, law)
        elif chosen is not ReviewVerdict.REJECTED:
            settled = approved_law(candidate, law)
            proposal = read_proposal(rule_id, text, settled, self.features)
            direction = f"{', '.join(proposal.causes) or 'nothing'} -> {proposal.feature}"
            self._refuse(proposal, evidence)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        answer = ReviewAnswer(
            rule_id, chosen, by.strip(), at, why.strip(), settled, direction, text, evidence
        )
        self.journal.append([record_of(answer)])
        self.answers.append(answer)
        return answer

    def _relation_direction(self, relation: Relation, text: str, law: object) -> str:
        """Return who determines whom in a relation; refuse one that clashes."""
        if law is not None:
            raise refusal(relation, "a relation has no law: leave it out")
        if not text:
            return ""
        declared = read_declared(relation.id, text, self.features)
        merged(
            [
                *(each for each in self._declared() if each[0] != relation.id),
                (relation.id, declared),
            ]
        )
        heads = declared.heads
        inputs = [name for name in relation.features if name not in heads]
        return (
            f"{', '.join(inputs)} -> {', '.join(heads)}"
            if heads and inputs
            else ", ".join(relation.features)
        )

    def candidate(self, rule_id: str) -> Candidate | Relation:
        """Return a candidate by its id; one that is not there is an error that names a likely one."""
        candidate = self.candidates.get(rule_id)
        if candidate is None:
            hint = suggestion(rule_id, self.candidates)
            raise ReviewError(f"{self.path}: no rule '{rule_id}'; {hint}", rules=[rule_id])
        return candidate

    def _refuse(self, proposal: Proposal, evidence: Evidence | None) -> None:
        if evidence is not None and evidence.support == 0:
            message = f"{proposal.id}: no row of the data satisfies its body"
            raise ReviewError(message, rules=[proposal.id])
        others = [each for each in self._proposals() if each.id != proposal.id]
        refuse_contradictions([*others, proposal], self.features)

    def _declared(self) -> list[tuple[str, Declared]]:
        """Return the content of each approved relation, with its id."""
        return [
            (answer.rule, read_declared(answer.rule, answer.text, self.features))
            for answer in self.verdicts().values()
            if answer.text and isinstance(self.candidates[answer.rule], Relation)
        ]

    def _proposals(self) -> tuple[Proposal, ...]:
        found = []
        for answer in self.verdicts().values():
            if answer.verdict is not ReviewVerdict.REJECTED and answer.law is not None:
                found.append(read_proposal(answer.rule, answer.text, answer.law, self.features))
        return tuple(found)


def write_review(
    path: str | Path,
    candidates: Iterable[Candidate | Relation],
    *,
    features: pd.DataFrame | Mapping[str, Mapping[str, Any]],
) -> Review:
    """Put candidates into a review file, a new one or one in use, and return the review.

    In a file in use, a known candidate keeps its answers.

    Args:
        path: The review file.
        candidates: Candidates, as `learn_causal_rules` and `Problem.relations` return them.
        features: The table that they were learned from, or the domains of its features. Contradictions are sought in
            these domains.

    >>> import p2c
    >>> import pandas as pd
    >>> table = pd.DataFrame({"degree": ["no", "yes"] * 20, "study": ["yes"] + ["no", "yes"] * 19 + ["yes"]})
    >>> candidates = p2c.learn_causal_rules(table, targets=["degree"])
    >>> review = p2c.write_review("degrees.review", candidates, features=table)
    >>> for candidate in review.pending():
    ...     answer = review.decide(candidate.id, "approved", by="an expert", why="who studies gets a degree", law="if")
    >>> p2c.read_review("degrees.review").pending()
    ()
    """
    from p2c._learn.tables.domains import domain_from_frame

    path = Path(path)
    if not isinstance(features, Mapping):
        features = domain_from_frame(features)
    if not path.exists():
        create_journal(path, [{"record": "header", "format": FORMAT}])
    review = read_review(path)
    domains = [
        {"record": "feature", "name": name, "keys": dict(keys)}
        for name, keys in features.items()
        if review.features.get(name) != dict(keys)
    ]
    fresh = [each for each in candidates if each.id not in review.candidates]
    review.journal.append([*domains, *map(record_of, fresh)])
    return read_review(path)


def read_review(path: str | Path) -> Review:
    """Read a review file; a torn line is passed over and listed in `torn`.

    Args:
        path: The file, as `p2c causal` and `write_review` write it.

    >>> import p2c
    >>> _ = p2c.write_review("degrees.review", [], features={})
    >>> p2c.read_review("degrees.review").pending()
    ()
    """
    journal = read_journal(Path(path))
    if not journal.records or journal.records[0].get("format") != FORMAT:
        raise ReviewError(f"{path}: not a review file: its first line should say '{FORMAT}'")
    review = Review(journal)
    for number, record in enumerate(journal.records, start=1):
        try:
            _take(review, record)
        except ValueError as error:
            told = _misused(error) if isinstance(error, ValidationError) else str(error)
            message = f"{path}: record {number} lacks or misuses {told[:200]}"
            raise ReviewError(f"{message}: bring back the version that was written") from None
    return review


def _take(review: Review, record: dict[str, Any]) -> None:
    match record.get("record"):
        case "header":
            return
        case "feature":
            feature = _Domain(**record)
            review.features[feature.name] = feature.keys
        case "candidate":
            candidate = Candidate(**record)
            review.candidates[candidate.id] = candidate
        case "relation":
            relation = Relation(**record)
            review.candidates[relation.id] = relation
        case "answer":
            answer = ReviewAnswer(**record)
            if answer.rule not in review.candidates:
                raise ValueError(f"'rule': there is no rule '{answer.rule[:60]}'")
            needs_law = isinstance(review.candidates[answer.rule], Candidate)
            if needs_law and answer.law is None and answer.verdict is not ReviewVerdict.REJECTED:
                raise ValueError("'law'")
            review.answers.append(answer)
        case other:
            raise ValueError(f"the kind '{other}'" if "record" in record else "'record'")


def _misused(error: ValidationError) -> str:
    """Name the key of a record that is not there or not of its kind."""
    first = error.errors(include_url=False)[0]
    if first["type"] == "value_error":
        return first["msg"].removeprefix("Value error, ")
    key = [each for each in first["loc"] if isinstance(each, str)][-1]
    if first["type"].endswith("_type"):
        return f"'{key}', which is no {type(first['input']).__name__}"
    return f"'{key}'" if first["type"] == "missing" else f"'{key}': {first['msg']}"


def _credit(answer: ReviewAnswer) -> str:
    words = (
        f"{answer.rule}, {answer.verdict.value} by {answer.by} on {answer.at[:10]}: {answer.why}"
    )
    return " ".join(words.split())
