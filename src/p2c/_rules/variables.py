"""Variables that say less than their writer thinks: what to say of each, and the quoted value it was probably meant to be.

Rules write variables with a capital, so a name with a capital and without quotes is a variable that matches every value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c._rules.render import render_atom, render_literal, render_term
from p2c._rules.syntax import Arithmetic, Atom, Comparison, Constant, Variable, bare
from p2c._spec.expression import names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p2c._rules.syntax import Literal
    from p2c._spec.feature import Feature

ANY = "_"
"""The variable that says on purpose: any value, a missing one too."""


def variables(literals: Iterable[Literal]) -> Iterator[str]:
    """Yield the name of each variable as often as it occurs."""
    for literal in literals:
        match bare(literal):
            case Atom(_, terms):
                yield from (term.name for term in terms if isinstance(term, Variable))
            case Comparison(left, _, right):
                yield from (each.name for each in (left, right) if isinstance(each, Variable))
            case Arithmetic(one, _, other):
                yield from (*names(one), *names(other))


def meant(name: str, values: Iterable[str | int | float]) -> Constant:
    """Return the value that a name without quotes was probably meant to be.

    >>> meant("Berlin", ["paris", "berlin"])
    Constant(value='berlin')
    """
    alike = [each for each in values if str(each).casefold() == name.casefold()]
    return Constant(next((each for each in alike if each == name), alike[0] if alike else name))


def example(feature: Feature, variable: str) -> str:
    """Return a comparison that the feature admits."""
    value = render_term(Constant(feature.domain.value(0)))
    return f"{variable}>={value}" if feature.has_order else f"{variable} = {value}"


def lone_variable(atom: Atom, feature: Feature, *, negated: bool) -> str:
    """Say what is wrong with a variable in the place of a value that is used nowhere else in its rule."""
    name = _variable(atom)
    sign = "not " if negated else ""
    if name == ANY:
        value = Constant(feature.domain.value(0))
        return f"'_' is any value, and not {render_atom(atom)} never holds; for one value, write not {_with(atom, value)}"
    if feature.kind.is_number:
        right = (
            f"{_with(atom)}, not({example(feature, name)})" if negated else example(feature, name)
        )
        right = f"write {right}" if negated else f"compare it, as in {right}"
    else:
        right = f"write {sign}{_with(atom, meant(name, feature.places))} for that one value"
    free = "" if negated else f", or write {_with(atom, Variable(ANY))} for any value"
    return f"the variable {name} is used nowhere else, so it stands for any value: {right}{free}"


def unrestricted(head: Atom, feature: Feature) -> str:
    """Say what is wrong with a head whose variable no comparison restricts."""
    name = _variable(head)
    wrong = f"the head variable {name} is not restricted: "
    if name != ANY and not feature.kind.is_number:
        wrong += f"write {_with(head, meant(name, feature.places))} for one value, or "
    name = "N" if name == ANY else name
    return f"{wrong}compare it with constants, as in {example(feature, name)}"


def named_decision(atom: Atom, known: Iterable[tuple[str | int | float, ...]]) -> str:
    """Return the decision that one with variables was meant to be, of the constants that rules define it with; else nothing."""
    values = [value for constants in known for value in constants]
    first, *rest = atom.arguments
    terms = [meant(t.name, values) if isinstance(t, Variable) else t for t in rest]
    defined = all(isinstance(each, Constant) and each.value in values for each in terms)
    return f"write {render_atom(Atom(atom.predicate, (first, *terms)))}" if defined else ""


def compared_name(comparison: Comparison, owners: Mapping[str, Feature | None]) -> str:
    """Return the hint for a feature that is compared with a name without quotes; nothing where it is something else."""
    match comparison:
        case Comparison(Variable(left), comparator, Variable(right)) if right not in owners:
            feature = owners.get(left)
            if feature is None or feature.kind.is_number:
                return ""
            value = meant(right, feature.places)
            return f"; write {render_literal(Comparison(Variable(left), comparator, value))}"
        case _:
            return ""


def _variable(atom: Atom) -> str:
    term = atom.arguments[1]
    assert isinstance(term, Variable)
    return term.name


def _with(atom: Atom, term: Constant | Variable | None = None) -> str:
    return render_atom(Atom(atom.predicate, (atom.arguments[0], term or atom.arguments[1])))
