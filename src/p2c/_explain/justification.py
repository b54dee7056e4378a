"""s(CASP)'s own justification of a decision: its tree, its English, and whether it rests on the same literals as our proof.

The decision rules are written with a predicate for each test, and with a `#pred` template for each predicate, made from the
features' labels and phrases. A justification is one proof of several, and ours holds them all, so s(CASP) is asked for
more than one. Each has to rest on literals that ours rests on too, and together on all of them, but for one thing: of a
rule that fails s(CASP) names the first literal that does, and ours every one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from p2c._engines.scasp.engine import OutOfTime, require_solver
from p2c._engines.scasp.rules import Rules, atom, call, rule, value
from p2c._explain.phrases import ENGLISH
from p2c._explain.sentences import decision_words, filled, stated_words, value_words
from p2c._rules.proof import Applied, Compared, Query, why
from p2c._rules.theory import Call, Test
from p2c.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from p2c._rules.proof import Proof
    from p2c._rules.theory import Condition, Theory
    from p2c._spec.feature import Value

ANSWERS = 200
"""Justifications that are looked at."""

PATIENCE = 60.0
"""Seconds that s(CASP) may take for a justification."""

Ground = tuple[str, str, str, bool]
"""A literal that a proof rests on: the feature, the comparison, the constant, and whether the value passes."""


class Justifier(Enum):
    """Who may justify a decision: we alone, or s(CASP) next to us."""

    NATIVE = "native"
    SCASP = "scasp"


@dataclass(frozen=True, slots=True)
class Justification:
    """What s(CASP) says of a decision."""

    holds: bool
    tree: str
    english: str
    grounds: frozenset[Ground]
    """The literals on which rest all justifications that were looked at."""
    complete: bool
    """Whether every justification there is was looked at."""

    def to_dict(self) -> dict[str, Any]:
        """Return the justification as JSON."""
        return {
            "holds": self.holds,
            "tree": self.tree,
            "english": self.english,
            "rests_on": [
                {"feature": f, "comparator": sign, "constant": constant, "passes": passes}
                for f, sign, constant, passes in sorted(self.grounds)
            ],
        }


def justify(theory: Theory, state: Mapping[str, Value]) -> Justification:
    """Return s(CASP)'s justification of the goal, or of its failure, once it agrees with our proof."""
    solver = require_solver()
    rules = Rules(theory, frozenset(n for n, v in state.items() if v is None), spelled=True)
    names = rules.ordered(theory.reads(theory.goal))
    program = "\n".join(_program(rules, names))
    claim = call("goal", [value(state[name]) for name in names])
    deadline = time.monotonic() + PATIENCE
    options = ("--tree",)
    try:
        for query in (claim, f"not {claim}"):
            told = solver.solve(program, query, answers=ANSWERS, deadline=deadline, options=options)
            if told:
                break
        else:
            raise EngineError("scasp: it proves neither that the goal holds nor that it fails")
        texts = [
            solver.tell(program, query, deadline=deadline, options=(*options, *more))
            for more in ((), ("--human",))
        ]
    except OutOfTime:
        raise EngineError(f"scasp: no justification within {PATIENCE:.0f} seconds") from None
    grounds = frozenset(each for answer in told for each in _grounds(rules, answer.get("tree")))
    tree, english = map(_tree, texts)
    found = Justification(query == claim, tree, english, grounds, len(told) < ANSWERS)
    _compare(found, why(theory, state))
    return found


def _compare(found: Justification, proof: Proof) -> None:
    """Raise where s(CASP) and our proof do not rest on the same literals."""
    ours, firsts = grounds_of(proof), grounds_of(proof, first=True)
    if found.holds is not proof.holds:
        raise EngineError("scasp: it does not agree with our proof on whether the goal holds")
    if not found.grounds <= ours or (found.complete and found.grounds != firsts):
        apart = sorted((found.grounds - ours) | (firsts - found.grounds))
        raise EngineError(f"scasp: its justification and our proof differ on {apart[0]}")


def grounds_of(proof: Proof, *, first: bool = False) -> frozenset[Ground]:
    """Return the literals that our proof rests on; with `first`, of a rule that fails only the first that does."""
    found = set()
    waiting = [proof.root]
    seen = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        match node.claim:
            case Compared(test):
                found.add(_ground(test, passes=node.holds is not test.negated))
            case Applied() | Query() if first and not node.holds:
                waiting += node.children[:1]
            case _:
                waiting += node.children
    return frozenset(found)


def _ground(test: Test, *, passes: bool) -> Ground:
    return test.feature, test.comparator.value, value(test.constant), passes


def _program(rules: Rules, names: list[str]) -> Iterator[str]:
    theory = rules.theory
    yield from rules.decisions([theory.goal])
    yield rule(call("goal", rules.given(names)), rules.body(theory.goal))
    yield from rules.test_rules()
    yield _template("goal", rules.given(names), "the goal is reached")
    for decision, name in rules.decision_names.items():
        said = ENGLISH.applies.replace("{decision}", decision_words(decision))
        yield _template(name, rules.given(rules.reads(decision)), said)
    for name, test in rules.tests.items():
        variable = rules.variable[test.feature]
        yield _template(name, [variable], _test_words(rules, test, variable))


def _template(name: str, given: Iterable[str], said: str) -> str:
    return f"#pred {call(name, given)} :: {atom(said)}."


def _test_words(rules: Rules, test: Test, variable: str) -> str:
    feature = rules.theory.feature[test.feature]
    return filled(
        ENGLISH.relations[test.comparator.value],
        statement=stated_words(feature, f"@({variable})"),
        constant=value_words(feature, test.constant),
    )


def _grounds(rules: Rules, tree: Any) -> Iterator[Ground]:
    """Yield the tests in a tree of s(CASP)'s JSON that its claims rest on.

    Below a negated decision s(CASP) lists what holds of a rule up to the literal that fails; only that one is a reason.
    """
    tests, bodies = rules.tests, _bodies(rules)
    waiting = [tree]
    while waiting:
        match waiting.pop():
            case {"node": {"truth": truth, "value": {"functor": name}}, "children": children}:
                if name in tests:
                    yield _ground(tests[name], passes=truth is True)
                elif truth is True:
                    waiting += children
                else:
                    waiting += [each for each in children if _fails(each) in bodies[name]]
            case {"children": children}:
                waiting += children
            case _:
                raise EngineError("scasp: expected a justification tree, found another shape")


def _fails(node: Any) -> tuple[str, bool]:
    """Return the literal of a body that fails where a node holds: its predicate, and whether it is negated."""
    match node:
        case {"node": {"truth": truth, "value": {"functor": name}}}:
            return name, truth is True
    raise EngineError("scasp: expected a literal in its justification, found another shape")


def _bodies(rules: Rules) -> dict[str, set[tuple[str, bool]]]:
    """Return the literals in the bodies of each predicate."""
    found = {"goal": {_literal(rules, each) for each in rules.theory.goal}}
    for decision, clauses in rules.theory.decisions:
        literals = {_literal(rules, each) for clause in clauses for each in clause.body}
        found[rules.decision_names[decision]] = literals
    return found


def _literal(rules: Rules, condition: Condition) -> tuple[str, bool]:
    if isinstance(condition, Test):
        return rules.test_name(condition), condition.negated
    assert isinstance(condition, Call), "an instance has no arithmetic"
    return rules.decision_names[condition.decision], condition.negated


def _tree(text: str) -> str:
    """Return the justification in what s(CASP) prints."""
    _, _, rest = text.partition("% Justification")
    tree = rest.partition("% Model")[0].strip("\n").rstrip()
    if not tree:
        raise EngineError("scasp: expected a justification in what it prints, found none")
    return tree


JUSTIFIERS: dict[Justifier, Callable[[Theory, Mapping[str, Value]], Justification | None]] = {
    Justifier.NATIVE: lambda theory, state: None,
    Justifier.SCASP: justify,
}
