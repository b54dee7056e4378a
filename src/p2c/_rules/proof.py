"""Why the goal holds or fails in a state, as a tree, after the justifications of s(CASP).

A decision that holds rests on each rule that fires, and a rule that fires on all its literals. A decision that fails
rests on every rule it has, and a rule that does not fire on each literal that fails. A `not` rests on what it negates.
So every node is explained by those below it alone, and a leaf by the person's own value.

Decisions nest to any depth, so nothing here recurses. Text and JSON stop at `DEEPEST` levels and `MOST` claims and say so;
the tree itself is whole, and what is reached twice is one node in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from p2c._markup import outline
from p2c._rules.evaluate import clause_fires, condition_holds, decision_holds, goal_holds
from p2c._rules.render import render_atom, render_body, render_literal, render_rule
from p2c._rules.syntax import Atom, Comparison, Literal, Not, Variable, bare
from p2c._rules.theory import ACCEPTED, Call, Clause, Relation, Test
from p2c._rules.variables import variables
from p2c._spec.expression import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from p2c._rules.syntax import Rule
    from p2c._rules.theory import Condition, Decision, Theory
    from p2c._spec.feature import Value

MARKS = {True: "✓", False: "✗"}
DEEPEST = 100
"""How many levels of a tree are written; JSON readers give up at a few hundred."""
MOST = 20_000
"""After how many claims of a tree the reasons of the others are left out."""


@dataclass(frozen=True, slots=True)
class Query:
    """The claim that a goal of several literals holds."""

    text: str


@dataclass(frozen=True, slots=True)
class Decided:
    """The claim that a decision holds, or under `not` that it fails."""

    call: Call
    text: str


@dataclass(frozen=True, slots=True)
class Applied:
    """The claim that a rule fires; rules are numbered from one, as they are written."""

    clause: Clause
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Compared:
    """The claim that the person's value passes a test."""

    test: Test
    value: Value
    text: str


@dataclass(frozen=True, slots=True)
class Related:
    """The claim that two expressions compare as written."""

    relation: Relation
    values: tuple[tuple[str, Value], ...]
    """The values of the features that they read."""
    text: str


Claim = Query | Decided | Applied | Compared | Related


@dataclass(frozen=True, slots=True)
class ProofNode:
    """A claim, whether it holds, and the claims that settle it."""

    claim: Claim
    holds: bool
    children: tuple[ProofNode, ...] = ()

    def leaves(self) -> Iterator[ProofNode]:
        """Yield the claims that rest on nothing but the state, each once."""
        seen = {id(self)}
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if not node.children:
                yield node
            fresh = [child for child in node.children if id(child) not in seen]
            seen.update(map(id, fresh))
            waiting += reversed(fresh)

    def shown(self) -> Iterator[tuple[ProofNode, int, bool]]:
        """Yield the claims in the order of reading, each with its depth and whether its reasons are left out."""
        waiting = [(self, 0)]
        count = 0
        while waiting:
            node, depth = waiting.pop()
            count += 1
            cut = bool(node.children) and (depth >= DEEPEST or count > MOST)
            yield node, depth, cut
            if not cut:
                waiting += [(child, depth + 1) for child in reversed(node.children)]

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as JSON; a claim whose reasons are left out has `"cut": true`."""
        root: dict[str, Any] = {}
        above: list[list[dict[str, Any]]] = []
        for node, depth, cut in self.shown():
            because: list[dict[str, Any]] = []
            record = {
                **_facts(node.claim),
                "text": node.claim.text,
                "holds": node.holds,
                "because": because,
                **({"cut": True} if cut else {}),
            }
            if depth:
                above[depth - 1].append(record)
            else:
                root = record
            above[depth:] = [because]
        return root


@dataclass(frozen=True, slots=True, repr=False)
class Proof:
    """The tree behind the goal of a problem in one state.

    >>> import p2c
    >>> proof = p2c.Problem.example("loan").why(p2c.datasets.rows("loan")["john"])
    >>> proof
    <Proof: ✗ not reject_loan(X)>
    """

    root: ProofNode
    find_reasons: Callable[[], tuple[str, ...] | None] | None = field(default=None, compare=False)
    """Searches the reasons of a parsed model."""

    @property
    def reasons(self) -> tuple[str, ...] | None:
        """Return the sufficient reasons of a parsed model; None for other decisions."""
        return self.find_reasons() if self.find_reasons else None

    def __repr__(self) -> str:
        return f"<Proof: {self.to_text().partition(chr(10))[0]}>"

    @property
    def holds(self) -> bool:
        """Tell whether the goal query succeeds."""
        return self.root.holds

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as JSON.

        >>> sorted(proof.to_dict())
        ['arguments', 'because', 'decision', 'holds', 'kind', 'negated', 'text']
        """
        return self.root.to_dict()

    def to_text(self) -> str:
        """Return the tree as indented lines: ✓ before what holds, ✗ before what fails.

        >>> print(proof.to_text())
        ✗ not reject_loan(X)
          ✓ reject_loan(X)
            ✓ rule 1: reject_loan(X) :- bank_balance(X,N), N<60000.
              ✓ bank_balance(X,N), N<60000: bank_balance is 40000
            ✓ rule 2: reject_loan(X) :- credit_score(X,N), N<620.
              ✓ credit_score(X,N), N<620: credit_score is 599
        """
        return "\n".join(
            line for node, depth, cut in self.root.shown() for line in _lines(node, depth, cut=cut)
        )

    def to_html(self) -> str:
        """Return the tree as lists inside lists that open and close with no script, every word escaped.

        >>> proof.to_html()[:3]
        '<ul'
        """
        return str(outline(self.rows()))

    def rows(self) -> tuple[tuple[str, int, bool], ...]:
        """Return the lines of the tree, each with its depth and whether others stand below it.

        >>> proof.rows()[0]
        ('✗ not reject_loan(X)', 0, True)
        """
        return tuple(
            (
                f"{MARKS[node.holds]} {_line(node)}{' …' if cut else ''}",
                depth,
                bool(node.children) and not cut,
            )
            for node, depth, cut in self.root.shown()
        )

    def _repr_html_(self) -> str:
        return self.to_html()


def why(theory: Theory, state: Mapping[str, Value]) -> Proof:
    """Return the proof that the goal holds in a state, or that it fails."""
    prover = _Prover(theory, state)
    prover.settle(theory.goal)
    conditions = prover.conditions(theory.goal, person=_person(theory.query))
    if len(conditions) == 1:
        return Proof(conditions[0])
    holds = goal_holds(theory, state)
    claim = Query(render_body(theory.query))
    return Proof(ProofNode(claim, holds, _telling(conditions, holds=holds)))


def why_fires(theory: Theory, clause: Clause, state: Mapping[str, Value]) -> ProofNode:
    """Return the proof that a rule fires in a state, or that it does not."""
    prover = _Prover(theory, state)
    prover.settle(clause.body)
    return prover.rule(clause)


class _Prover:
    """Builds the nodes of one theory in one state, those of a decision after those of the decisions that it calls."""

    def __init__(self, theory: Theory, state: Mapping[str, Value]) -> None:
        self.theory = theory
        self.state = state
        self.known: dict[Decision, bool] = {}
        self.rules: dict[Decision, tuple[ProofNode, ...]] = {}
        self.numbers: dict[Rule, int] = {}
        for number, rule in enumerate(theory.program.rules, start=1):
            self.numbers.setdefault(rule, number)

    def settle(self, body: tuple[Condition, ...]) -> None:
        """Build the rules of every decision that a body calls, directly or not."""
        for decision, clauses in self.theory.called([body]):
            holds = decision_holds(self.theory, decision, self.state, self.known)
            own = decision == ACCEPTED and self.theory.model is not None  # no rule of it is written
            self.rules[decision] = _telling(map(self.rule, () if own else clauses), holds=holds)

    def conditions(self, body: tuple[Condition, ...], *, person: str) -> tuple[ProofNode, ...]:
        return tuple(self._condition(each, person=person) for each in body)

    def _condition(self, condition: Condition, *, person: str) -> ProofNode:
        holds = condition_holds(self.theory, condition, self.state, self.known)
        if isinstance(condition, Test):
            value = self.state[condition.feature]
            return ProofNode(Compared(condition, value, _test_text(condition, person)), holds)
        if isinstance(condition, Relation):
            values = tuple((each, self.state[each]) for each in dict.fromkeys(condition.names))
            text = _relation_text(condition, person)
            return ProofNode(Related(condition, values, text), holds)
        literal = condition.literal
        assert literal is not None
        claim = Decided(condition, render_literal(literal))
        if not condition.negated:
            return ProofNode(claim, holds, self.rules[condition.decision])
        assert isinstance(literal, Not)
        plain = Call(condition.decision, literal=literal.inner)
        return ProofNode(claim, holds, (self._condition(plain, person=person),))

    def rule(self, clause: Clause) -> ProofNode:
        fires = clause_fires(self.theory, clause, self.state, self.known)
        rule = clause.rule
        parts = (rule.head, *rule.body) if rule.head else rule.body
        children = self.conditions(clause.body, person=_person(parts))
        claim = Applied(clause, self.numbers[rule], render_rule(rule))
        return ProofNode(claim, fires, _telling(children, holds=fires))


def _telling(nodes: Iterable[ProofNode], *, holds: bool) -> tuple[ProofNode, ...]:
    """Return the nodes that go the way of the claim above: they alone settle it."""
    return tuple(node for node in nodes if node.holds is holds)


def _person(literals: Iterable[Literal]) -> str:
    """Return the name of the variable that stands for the person."""
    for literal in literals:
        atom = bare(literal)
        if isinstance(atom, Atom) and isinstance(atom.arguments[0], Variable):
            return atom.arguments[0].name
    return "X"


def _test_text(test: Test, person: str) -> str:
    """Write a test as in its rule; before a comparison stands the literal that its variable is from."""
    literal = test.literal
    assert literal is not None
    inner = bare(literal)
    if not isinstance(inner, Comparison):
        return render_literal(literal)
    side = inner.left if isinstance(inner.left, Variable) else inner.right
    source = render_atom(Atom(test.feature, (Variable(person), side)))
    return f"{source}, {render_literal(literal)}"


def _relation_text(relation: Relation, person: str) -> str:
    """Write an arithmetic comparison after the literals of its variables."""
    literal = relation.literal
    assert literal is not None
    atoms = [
        render_atom(Atom(feature, (Variable(person), Variable(variable))))
        for variable, feature in zip(variables([literal]), relation.names, strict=True)
    ]
    return ", ".join([*dict.fromkeys(atoms), render_literal(literal)])


def _facts(claim: Claim) -> dict[str, Any]:
    match claim:
        case Query():
            return {"kind": "goal"}
        case Decided(call):
            decision = call.decision
            return {
                "kind": "decision",
                "decision": decision.predicate,
                "arguments": list(decision.arguments),
                "negated": call.negated,
            }
        case Applied(_, number):
            return {"kind": "rule", "rule": number}
        case Compared(test, value):
            return {
                "kind": "test",
                "feature": test.feature,
                "value": value,
                "comparator": test.comparator.value,
                "constant": test.constant,
                "negated": test.negated,
            }
        case Related(relation, values):
            return {
                "kind": "arithmetic",
                "values": dict(values),
                "left": text_of(relation.left),
                "comparator": relation.comparator.value,
                "right": text_of(relation.right),
                "negated": relation.negated,
            }


def _lines(node: ProofNode, depth: int, *, cut: bool) -> Iterator[str]:
    yield f"{'  ' * depth}{MARKS[node.holds]} {_line(node)}"
    if cut:
        yield f"{'  ' * (depth + 1)}… what this rests on is left out"


def _line(node: ProofNode) -> str:
    match node.claim:
        case Applied(_, number, text):
            return f"rule {number}: {text}"
        case Compared(test, value, text):
            return f"{text}: {test.feature} is {'unknown' if value is None else value}"
        case Related(_, values, text):
            known = (f"{name} is {'unknown' if v is None else v}" for name, v in values)
            return f"{text}: {', '.join(known)}"
        case Query(text) | Decided(_, text):
            return text
