"""A review as an expert reads it, gathered into values that the terminal and the page both show.

Every candidate is a sentence. They stand by the effect that they explain, what is still open first. Each law has its
sentence, its examples and the number of rows that would be exceptions to it. The end says what to do next.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p2c._explain.phrases import ENGLISH
from p2c._explain.rules import law_words, rule_words
from p2c._explain.sentences import as_sentence, filled, label_words, number_words
from p2c._learn.causal.adopt import approved_rules
from p2c._learn.causal.candidate import ReviewVerdict, suggest_law
from p2c._learn.causal.contradictions import read_proposal, theory_of
from p2c._learn.relations.relation import Relation, read_declared
from p2c._spec.feature import Law
from p2c.errors import ReviewError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from p2c._explain.phrases import Phrases
    from p2c._explain.rules import LawWords
    from p2c._learn.causal.candidate import Candidate, Evidence, ReviewAnswer
    from p2c._learn.causal.review import Review
    from p2c._rules.theory import Clause, Theory


@dataclass(frozen=True, slots=True)
class Question:
    """A candidate as a sentence, with the answer that counts for it, if there is one."""

    candidate: Candidate | Relation
    sentence: str
    answer: ReviewAnswer | None

    @property
    def is_open(self) -> bool:
        """Tell whether nobody has answered."""
        return self.answer is None


@dataclass(frozen=True, slots=True)
class Effect:
    """The questions about one feature, the open ones first."""

    label: str
    questions: tuple[Question, ...]

    @property
    def open(self) -> int:
        """Return how many are left to answer."""
        return sum(each.is_open for each in self.questions)


@dataclass(frozen=True, slots=True)
class LawChoice:
    """A law under which a rule may be approved: its words, and how many rows would be exceptions to it.

    `exceptions` counts with this rule alone, `together` with every candidate for the same conclusion.
    """

    words: LawWords
    suggested: bool
    exceptions: int
    together: int
    rows: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A candidate in words, as an expert reads it.

    `evidence` is None where there are no data. A relation has no laws, and its evidence is in `rows`, a sentence.
    """

    sentence: str
    laws: tuple[LawChoice, ...]
    evidence: Evidence | None
    rows: str = ""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The end of a review in which nothing is open: what became of the rules, and the command that uses them.

    `trouble` says why the approved rules cannot be used together; there is no command then.
    """

    approved: int
    rejected: int
    command: str
    trouble: str = ""


def effects(review: Review, phrases: Phrases = ENGLISH) -> tuple[Effect, ...]:
    """Return all questions of a review by effect; effects with open ones come first, the rest as they were found."""
    answers = review.verdicts()
    found: dict[str, list[Question]] = {}
    for each in review.candidates.values():
        if isinstance(each, Relation):
            label = column_label(each.feature, review.features)
            sentence = relation_words(each, each.text, review.features, phrases)
            found.setdefault(label, []).append(Question(each, sentence, answers.get(each.id)))
            continue
        theory, clause = _bound(each.id, each.rule, _mentioned(review, each.rule))
        label = label_words(theory.feature[clause.head[0].feature])
        question = Question(each, rule_words(theory, clause, phrases), answers.get(each.id))
        found.setdefault(label, []).append(question)
    grouped = [Effect(label, _open_first(questions)) for label, questions in found.items()]
    return tuple(sorted(grouped, key=lambda each: not each.open))


def open_questions(told: Iterable[Effect]) -> tuple[Question, ...]:
    """Return what is left to answer, in the order in which it is shown."""
    return tuple(each for effect in told for each in effect.questions if each.is_open)


def following(told: Iterable[Effect], rule_id: str) -> str:
    """Return the open question to go on with after one of them, round about; '' where no other is open."""
    shown = [each for effect in told for each in effect.questions]
    place = next((at for at, each in enumerate(shown) if each.candidate.id == rule_id), -1)
    later = [*shown[place + 1 :], *shown[: max(place, 0)]]
    return next((each.candidate.id for each in later if each.is_open), "")


def read_back(
    review: Review,
    candidate: Candidate | Relation,
    text: str,
    evidence: Evidence | None,
    phrases: Phrases,
) -> Reading:
    """Return the text of a candidate, or an edited one, in words."""
    if isinstance(candidate, Relation):
        read_declared(candidate.id, text, review.features)
        sentence = relation_words(candidate, text, review.features, phrases)
        return Reading(sentence, (), None, evidence_words(candidate, phrases))
    features = _mentioned(review, text) if text == candidate.rule else review.features
    theory, clause = _bound(candidate.id, text, features)
    likely = candidate.law if text == candidate.rule else evidence and suggest_law(evidence)
    choices = tuple(
        LawChoice(
            law_words(theory, clause, law, phrases),
            suggested=law is likely,
            exceptions=evidence.exceptions(law) if evidence else 0,
            together=evidence.exceptions_together(law) if evidence else 0,
            rows=evidence.rows if evidence else 0,
        )
        for law in Law
    )
    return Reading(rule_words(theory, clause, phrases), choices, evidence)


def conclude(review: Review, problem: str = "problem.toml") -> Conclusion | None:
    """Return how a review ended and the command that comes next; None while something is open."""
    if review.pending():
        return None
    answers = review.verdicts().values()
    rejected = sum(each.verdict is ReviewVerdict.REJECTED for each in answers)
    approved = len(answers) - rejected
    try:
        approved_rules(review)
    except ReviewError as error:
        return Conclusion(approved, rejected, "", str(error))
    target = str(Path(problem).with_name(f"{Path(problem).stem}-causal.toml"))
    words = ["p2c", "adopt", problem, str(review.path), "-o", target]
    return Conclusion(approved, rejected, shlex.join(words))


def _open_first(questions: Iterable[Question]) -> tuple[Question, ...]:
    return tuple(sorted(questions, key=lambda each: not each.is_open))


def _mentioned(review: Review, text: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the features whose names stand in a text, which is all that its words need."""
    return {name: keys for name, keys in review.features.items() if name in text}


def _bound(id_: str, text: str, features: Mapping[str, Mapping[str, Any]]) -> tuple[Theory, Clause]:
    proposal = read_proposal(id_, text, Law.IFF, features)
    theory = theory_of([proposal], features)
    (clause,) = theory.rules_of[proposal.feature]
    return theory, clause


def relation_words(
    relation: Relation, text: str, features: Mapping[str, Mapping[str, Any]], phrases: Phrases
) -> str:
    """Return a relation as a sentence.

    Args:
        relation: The candidate.
        text: Its text, or an edited one.
        features: The keys of each feature, which may have a label.
        phrases: The language.
    """
    first, *others = (column_label(name, features) for name in relation.features)
    said = filled(
        phrases.columns[relation.kind.value],
        first=first,
        others=", ".join(others),
        text="; ".join(text.splitlines()),
    )
    return as_sentence(said, phrases)


def column_label(name: str, features: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the label of a feature."""
    return str(features.get(name, {}).get("label") or name.replace("_", " "))


def evidence_words(relation: Relation, phrases: Phrases) -> str:
    """Return the rows for a relation as a sentence."""
    if not relation.rows:
        key = "by_graph" if relation.kind.value == "effect" else "by_name"
        return as_sentence(phrases.columns[key], phrases)
    counts = {
        "some": number_words(relation.holds, phrases),
        "all": number_words(relation.rows, phrases),
    }
    return as_sentence(filled(phrases.columns["holds"], **counts), phrases)
