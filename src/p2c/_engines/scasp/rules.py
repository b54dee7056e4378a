"""The rules of a problem for s(CASP), over the values that each predicate reads.

`reject_loan(X) :- bank_balance(X,N), N<60000.` becomes `reject_loan(Bank_balance, Credit_score) :- Bank_balance #< 60000.`
The values are arguments, so no body has a variable of its own: what `not` is put before is ground, and s(CASP) never
has to try all values of anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from p2c._engines.instance import WORDS, Names
from p2c._rules.evaluate import passes
from p2c._rules.render import render_rule
from p2c._rules.syntax import Comparator
from p2c._rules.theory import Call, Test
from p2c._spec.feature import exact
from p2c.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from p2c._rules.theory import Clause, Condition, Decision, Theory
    from p2c._spec.feature import Value


PLAIN = re.compile(r"[a-z][a-zA-Z0-9_]*")
WIDTH = 100
"""Letters of a line that is not broken."""

UNKNOWN = "nothing(known)"
"""The term of a missing value, different from all values."""

Term = str | Fraction | tuple[Any, ...] | list[Any]
"""An atom, a number, a compound as its functor and its arguments, or a list."""


def atom(text: str) -> str:
    r"""Write an atom with escapes for other letters than plain ASCII.

    >>> atom("debt"), atom("don't"), atom("Zed")
    ('debt', "'don\\'t'", "'Zed'")
    """
    if PLAIN.fullmatch(text) and text not in WORDS:
        return text
    inner = "".join(map(_escaped, text))
    return f"'{inner}'"


def _escaped(letter: str) -> str:
    if letter in "'\\":
        return f"\\{letter}"
    return letter if " " <= letter <= "~" else f"\\x{ord(letter):x}\\"


def number(value: float) -> str:
    """Write a number exactly, as a fraction where it is not whole.

    >>> number(5), number(0.25), number(-1.5)
    ('5', '1/4', '-3/2')
    """
    return str(exact(value))


def value(given: Value) -> str:
    """Write a value of a feature."""
    if given is None:
        return UNKNOWN
    return atom(given) if isinstance(given, str) else number(given)


def variables(names: Iterable[str]) -> dict[str, str]:
    """Return a unique variable for each name: `bank_balance` becomes `Bank_balance`.

    >>> variables(["debt", "Credit Score", "new"])
    {'debt': 'Debt', 'Credit Score': 'Credit_Score', 'new': 'New_'}
    """
    found: dict[str, str] = {}
    taken = {"New", "Price", "Groups"}
    for name in names:
        text = re.sub(r"[^A-Za-z0-9_]", "_", name)
        text = text[:1].upper() + text[1:]
        if not re.match(r"[A-Z]", text):
            text = f"V{text}"
        while text in taken:
            text += "_"
        taken.add(text)
        found[name] = text
    return found


def call(name: str, arguments: Iterable[str]) -> str:
    """Write a call; without arguments it is the name alone."""
    given = ", ".join(arguments)
    return f"{name}({given})" if given else name


def rule(head: str, body: list[str]) -> str:
    """Write a rule, or a fact; one that is long has a line for each literal."""
    if not body:
        return f"{head}."
    line = f"{head} :- {', '.join(body)}."
    if len(line) <= WIDTH:
        return line
    return f"{head} :-\n    " + ",\n    ".join(body) + "."


def read_term(data: Any) -> Term:
    """Return a term from s(CASP)'s JSON."""
    match data:
        case list():
            return [read_term(each) for each in data]
        case {"truth": True, "value": inner}:
            return read_term(inner)
        case {"type": "rational", "numerator": int() as above, "denominator": int() as below}:
            return Fraction(above, below)
        case {"type": "number", "value": int() as whole}:
            return Fraction(whole)
        case {"type": "atom" | "string", "value": str() as text}:
            return text
        case {"type": "compound", "functor": str() as functor, "args": list() as given}:
            return (functor, *map(read_term, given))
    raise EngineError(f"scasp: its answer has a term that is none of ours: {str(data)[:80]}")


WORDED = {
    Comparator.EQ: "is",
    Comparator.NE: "is_not",
    Comparator.LT: "below",
    Comparator.LE: "at_most",
    Comparator.GT: "above",
    Comparator.GE: "at_least",
}

OURS = (
    "plan", "find_path", "is_counterfactual", "intervene", "make_consistent", "now_consistent", "stuck", "now",
    "act_directly", "act_causally", "act_on_support", "not_member", "first_fit", "some_fit", "none_fit",
    "none_fit_at_all", "fits", "fits_not", "target", "start", "goal", "consistent", "inconsistent", "nothing_follows", "do",
    "then", "direct_action", "causal_action", "supported_action", "may", "near", "bars", "marks", "sound", "still",
)  # fmt: skip
"""The names that the algorithms use."""


@dataclass(frozen=True)
class Rules:
    """A theory with names of predicates; values of `missing` features may be unknown.

    With `spelled`, each test is a predicate of its own, which a justification can put into words.
    """

    theory: Theory
    missing: frozenset[str] = frozenset()
    spelled: bool = False
    _tests: dict[Test, str] = field(default_factory=dict, init=False)

    @cached_property
    def names(self) -> Names:
        """Return the names that are taken."""
        return Names(OURS)

    @cached_property
    def variable(self) -> dict[str, str]:
        """Return the variable of each feature."""
        return variables(feature.name for feature in self.theory.features)

    @cached_property
    def decision_names(self) -> dict[Decision, str]:
        """Return the predicate of each decision: its own name, with its constants behind."""
        return {
            decision: self.names.name("_".join(map(str, (decision.predicate, *decision.arguments))))
            for decision, _ in self.theory.decisions
        }

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Return features in the order of the problem."""
        wanted = set(names)
        return [feature.name for feature in self.theory.features if feature.name in wanted]

    def given(self, names: Iterable[str]) -> list[str]:
        """Return the variables of features in the order of the problem."""
        return [self.variable[name] for name in self.ordered(names)]

    def reads(self, decision: Decision) -> list[str]:
        """Return the features that a decision reads."""
        bodies = [clause.body for clause in self.theory.rules_for[decision]]
        return self.ordered({name for body in bodies for name in self.theory.reads(body)})

    def decisions(self, bodies: Iterable[Iterable[Condition]]) -> Iterator[str]:
        """Yield the rules of all decisions that the bodies call, directly or not."""
        for decision, clauses in self.theory.called(bodies):
            yield from self._decision(decision, clauses)

    def _decision(self, decision: Decision, clauses: tuple[Clause, ...]) -> Iterator[str]:
        head = call(self.decision_names[decision], self.given(self.reads(decision)))
        for clause in clauses:
            yield f"% {render_rule(clause.rule)}"
            yield rule(head, self.body(clause.body))
        if not clauses:
            yield rule(head, ["false"])

    def body(self, conditions: Iterable[Condition]) -> list[str]:
        """Write the literals of a body."""
        return [text for each in conditions for text in self._condition(each)]

    def _condition(self, condition: Condition) -> list[str]:
        if isinstance(condition, Test):
            return self.test(condition, self.variable[condition.feature])
        assert isinstance(condition, Call), "an instance has no arithmetic"
        decision = condition.decision
        text = call(self.decision_names[decision], self.given(self.reads(decision)))
        return [f"not {text}" if condition.negated else text]

    def head(self, clause: Clause, variable: str) -> list[str]:
        """Write the tests of a causal rule's head."""
        known = [f"{variable} \\= {UNKNOWN}"] if clause.head[0].feature in self.missing else []
        return known + [text for test in clause.head for text in self.test(test, variable)]

    def test(self, test: Test, variable: str) -> list[str]:
        """Write a test.

        With a missing value or an order of names it becomes a predicate of its own.
        """
        feature = self.theory.feature[test.feature]
        ranked = (
            test.comparator not in (Comparator.EQ, Comparator.NE) and not feature.kind.is_number
        )
        unsure = test.feature in self.missing and not _is_plain(test)
        if ranked or unsure or self.spelled:
            text = call(self.test_name(test), [variable])
            return [f"not {text}" if test.negated else text]
        return [self._compared(test, variable, negated=test.negated)]

    def test_name(self, test: Test) -> str:
        """Return the predicate of a test, its negation aside."""
        plain = Test(test.feature, test.comparator, test.constant)
        if plain not in self._tests:
            words = f"{test.feature}_{WORDED[test.comparator]}_{test.constant}"
            self._tests[plain] = self.names.name(words)
        return self._tests[plain]

    @property
    def tests(self) -> dict[str, Test]:
        """Return the tests that have a predicate of their own, by its name."""
        return {name: test for test, name in self._tests.items()}

    def test_rules(self) -> Iterator[str]:
        """Yield the rules of the tests that have a predicate of their own."""
        for test, name in self._tests.items():
            feature = self.theory.feature[test.feature]
            variable = self.variable[test.feature]
            yield f"% {test.feature} {test.comparator.value} {test.constant}"
            if feature.kind.is_number or test.comparator in (Comparator.EQ, Comparator.NE):
                known = [f"{variable} \\= {UNKNOWN}"] if test.feature in self.missing else []
                yield rule(call(name, [variable]), [*known, self._compared(test, variable)])
                continue
            passing = [
                each
                for each in map(feature.domain.value, range(feature.domain.size))
                if passes(feature, each, test)
            ]
            for each in passing:
                yield f"{call(name, [value(each)])}."
            if not passing:
                yield rule(call(name, [variable]), ["false"])

    def _compared(self, test: Test, variable: str, *, negated: bool = False) -> str:
        comparator = test.comparator.opposite if negated else test.comparator
        plain = comparator in (Comparator.EQ, Comparator.NE)
        return f"{variable} {'' if plain else '#'}{comparator.value} {value(test.constant)}"


def _is_plain(test: Test) -> bool:
    """Tell whether the text of a test is right for a missing value too."""
    return test.comparator is Comparator.EQ
