"""What every answer says of what it rests on: values that are not known, and rules that were learned."""

from __future__ import annotations

import json
from typing import Any

import pytest

from p2c import Problem, datasets
from p2c._explain.model_reasons import rules_words
from p2c._explain.phrases import LANGUAGES
from p2c.errors import ProblemError
from tests.embedded import embedded
from tests.loan import JOHN, LOAN

MODEL = {"from": "model", "fidelity": 0.983, "rows": 32561, "name": "model.skops"}
BY = "by rules that agree with the model on 98.3% of the rows"
NACH = "nach Regeln, die auf 98,3 % der Zeilen mit dem Modell übereinstimmen"
RICH = JOHN | {"debt": 0, "bank_balance": 70000, "credit_score": 700}
STUCK = JOHN | {"debt": 0}
POOR = JOHN | {"debt": 0, "credit_score": 700, "bank_balance": None}


@pytest.fixture(scope="module")
def learned() -> Problem:
    return Problem.from_dict(LOAN | {"source": MODEL})


@pytest.mark.parametrize("row", [JOHN, RICH, STUCK])
def test_every_letter_names_the_learned_rules_and_proves_nothing_without_them(
    learned: Problem, row: dict[str, Any]
) -> None:
    plan = learned.plan(row)
    assert plan.to_dict()["source"] == MODEL
    for language, by, proved in (("en", BY, "proved"), ("de", NACH, "bewiesen")):
        told = plan.explain(language=language)
        assert by in told
        assert told.count(proved) == told.count(f"{proved} {by}")
        for audience in ("applicant", "expert"):
            page = learned.report(row, format="md", audience=audience, language=language)
            assert by in page.decode()
    assert BY in (plan._repr_html_() or "")
    expert = learned.report(row, format="md", audience="expert").decode()
    assert '"model.skops"' in expert
    assert BY in learned._repr_html_()


def test_who_gave_up_names_the_learned_rules_too(learned: Problem) -> None:
    assert BY in learned.plan(JOHN, node_limit=0).explain()


def test_the_source_is_kept_with_the_problem(learned: Problem) -> None:
    assert learned.to_dict()["source"] == MODEL
    assert learned.with_keys(norm="l2").theory.source == learned.theory.source
    again = Problem.from_dict(json.loads(json.dumps(learned.to_dict())))
    assert again.plan(JOHN).to_dict() == learned.plan(JOHN).to_dict()
    assert "source" not in Problem.from_dict(LOAN).to_dict()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"from": "model"}, "by rules that were learned from the answers of a model"),
        ({"from": "labels"}, "by rules that were learned from recorded outcomes"),
        (
            {"from": "model", "fidelity": 1},
            "by rules that agree with the model on 100% of the rows",
        ),
        (
            {"from": "labels", "fidelity": 0.99999},
            "by rules that agree with the recorded outcomes on 99.9% of the rows",
        ),
    ],
)
def test_a_share_is_never_rounded_up_to_all_and_need_not_be_known(
    source: dict[str, Any], words: str
) -> None:
    theory = Problem.from_dict(LOAN | {"source": source}).theory
    assert rules_words(theory) == words
    assert rules_words(theory, LANGUAGES["de"]).startswith("nach Regeln, die ")


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("a model", "source: expected { from"),
        ({"from": "hearsay"}, "source.from: expected 'model' or 'labels', found 'hearsay'"),
        ({"fidelity": 1}, "source.from: this key is missing"),
        ({"from": "model", "fidelity": 98.3}, "source.fidelity: expected a share from 0 to 1"),
        ({"from": "model", "rows": 0}, "source.rows: expected a whole number above 0, found 0"),
        ({"from": "model", "fidelty": 1}, "source.fidelty: expected { from"),
    ],
)
def test_a_source_that_is_none_is_one_clear_line(source: Any, fault: str) -> None:
    with pytest.raises(ProblemError) as refused:
        Problem.from_dict(LOAN | {"source": source})
    assert str(refused.value).startswith(fault)
    assert "\n" not in str(refused.value)


def test_every_letter_names_what_is_not_known_and_that_the_answer_rests_on_it() -> None:
    problem = Problem.from_dict(LOAN)
    plan = problem.plan(POOR)
    assert plan.status == "already", "a missing value counts in the person's favour"
    assert plan.to_dict()["unknown"] == ["bank_balance"]
    assert "We do not know your bank balance" in plan.explain()
    assert "may be another once it is known" in plan.explain()
    assert "Ist er bekannt, kann die Antwort anders ausfallen." in plan.explain(language="de")
    assert "We do not know your bank balance" in (plan._repr_html_() or "")
    expert = problem.report(POOR, format="md", audience="expert").decode()
    assert "| not known; the answer rests on it | bank\\_balance |" in expert


def test_a_value_that_no_rule_reads_is_not_missed() -> None:
    problem = Problem.from_dict(LOAN)
    plan = problem.plan(JOHN | {"age": None})
    assert "unknown" not in plan.to_dict()
    assert "We do not know" not in plan.explain()
    assert problem.theory.consulted == ("debt", "bank_balance", "credit_score")


def test_a_plan_that_hides_what_is_not_known_does_not_pass_the_check() -> None:
    problem = Problem.from_dict(LOAN)
    document = problem.plan(POOR).to_dict()
    assert problem.check(document).ok
    del document["unknown"]
    assert problem.check(document).ok, "documents from elsewhere need not have the key"
    found = str(problem.check(document | {"unknown": []}))
    assert found == "unknown: expected bank_balance, found []"


@pytest.mark.parametrize("problem", [LOAN, LOAN | {"source": MODEL}])
def test_a_plan_that_claims_better_rules_than_the_problem_has_does_not_pass_the_check(
    problem: dict[str, Any],
) -> None:
    loaded = Problem.from_dict(problem)
    document = loaded.plan(JOHN).to_dict()
    assert loaded.check(document).ok
    found = loaded.check(document | {"source": MODEL | {"fidelity": 1.0}})
    assert [fault.place for fault in found.faults] == ["source"]


@pytest.mark.parametrize("name", ["adult", "german", "cars"])
def test_the_paper_s_learned_problems_say_so(name: str) -> None:
    row = next(iter(datasets.rows(name).values()))
    plan = embedded(name).plan(row)
    assert plan.to_dict()["source"]["from"] == "labels"
    assert "by rules that agree with the recorded outcomes on" in plan.explain()
