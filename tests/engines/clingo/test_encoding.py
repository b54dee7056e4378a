from __future__ import annotations

import pytest

from p2c._engines.clingo.encoding import Encoding
from p2c._engines.instance import Instance
from p2c.datasets import rows
from p2c.problem import Problem
from tests.embedded import embedded
from tests.engines.test_contract import difference


def test_a_decision_may_have_the_name_of_one_of_the_contract_s_own_predicates() -> None:
    document = {
        "goal": "not reached(X)",
        "rules": "reached(X) :- consistent(X). consistent(X) :- a(X,'n'). b(X,'y') :- a(X,'y').",
        "features": {name: {"type": "category", "values": ["y", "n"]} for name in "ab"},
    }
    assert difference("clingo", document, {"a": "n", "b": "n"}) == ""


def test_what_no_effect_hears_of_is_set_at_the_end() -> None:
    problem = embedded("loan")
    encoding = Encoding(Instance.of(problem.compiled, problem.read_row(rows("loan")["john"])))
    assert encoding.late == {"bank_balance"}
    assert encoding.enough == 2, "pay the debt, and the score follows"
    assert not Encoding(encoding.instance, by_steps=True).late


@pytest.mark.parametrize(
    ("rules", "keys", "astray"),
    [
        ("b(X,'y') :- a(X,'y').", {}, False),
        ("b(X,'y') :- a(X,'y').", {"effects": "supported"}, True),
        ("b(X,'y') :- a(X,'y'). a(X,'y') :- b(X,'y').", {}, True),
    ],
    ids=["chain", "supported", "cycle"],
)
def test_only_supported_effects_and_cycles_may_go_astray(
    rules: str, keys: dict[str, str], astray: bool
) -> None:
    features = {name: {"type": "category", "values": ["y", "n"], "action": "free"} for name in "ab"}
    problem = Problem.from_dict({"goal": "b(X,'y')", "rules": rules, "features": features, **keys})
    encoding = Encoding(Instance.of(problem.compiled, problem.read_row({"a": "n", "b": "n"})))
    assert encoding.astray is astray
