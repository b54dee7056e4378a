"""A person's question as a program for s(CASP) or for clingo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c._engines.clingo.encoding import Encoding, contract
from p2c._engines.instance import Instance, first_actions
from p2c._engines.places import most_effort
from p2c._engines.scasp.program import ScaspProgram

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._plan.compiled.space import Space
    from p2c._spec.feature import Value

SCASP_HEADER = """\
% {name}: a path to the goal for one person, as s(CASP) finds it.
%
%   scasp -s1 --forall=prev --unknown=error {name}.pl
%
% prints a path with the fewest direct actions there are. In plan(Depth, Most, Budget, Path), Depth to Most is how many
% direct actions are tried, and Budget is the effort that a path may take: the sum of the last arguments of the may(...) of
% its actions. To see that a path is the cheapest, ask again with a Budget of one less than its effort.
%
% A state is the list [{features}].
"""
MOST_STEPS = 24
"""Steps of a path that are looked for at most, unless the reader asks for more."""
CLINGO_HEADER = """\
% {name}: the cheapest path to the goal for one person, as clingo finds it.
%
%   clingo --opt-strategy=bb,lin {name}.lp
%
% The cost of the path is {words}, where cost is the {place} number after `Optimization:`.
% Paths have up to `horizon` steps, one action each, effects included; {proof}.
%
% do(F,V,W,T): at step T the person sets the feature F from V to W, where T is `end` for features of which no effect hears:
% they are set last, in any order. then(F,W,T): F takes the value W by itself.

#const horizon = {horizon}.
"""
ALL = "no path has more"
LONG = "{} would surely be enough, -c horizon=... asks for more"
ASTRAY = "effects may go on without end, -c horizon=... asks for more"


def scasp_files(space: Space, state: Mapping[str, Value]) -> dict[str, str]:
    """Return the program of a person, with its query."""
    instance = Instance.of(space, state)
    program = ScaspProgram(instance)
    name = file_name(space.theory.name)
    header = SCASP_HEADER.format(name=name, features=", ".join(instance.features))
    query = f"?- plan(1, {instance.most_actions}, {most_effort(instance.reaches.values())}, Path)."
    return {f"{name}.pl": f"{header}\n{program.text}\n% The question.\n{query}\n"}


def file_name(name: str) -> str:
    """Return a problem's name as a file may have it.

    >>> file_name("My loan/2")
    'My_loan_2'
    """
    plain = "".join(
        each if each.isascii() and (each.isalnum() or each in "-_") else "_" for each in name
    )
    return plain or "problem"


def clingo_files(space: Space, state: Mapping[str, Value]) -> dict[str, str]:
    """Return the program of a person."""
    instance = Instance.of(space, state)
    encoding = Encoding(instance)
    enough = encoding.enough
    name = file_name(space.theory.name)
    header = CLINGO_HEADER.format(
        name=name,
        words=encoding.tariff.words,
        place="second" if first_actions(instance) else "first",
        horizon=MOST_STEPS if encoding.astray else min(enough, MOST_STEPS),
        proof=ASTRAY if encoding.astray else LONG.format(enough) if enough > MOST_STEPS else ALL,
    )
    return {f"{name}.lp": "\n".join([header, *encoding.lines(), "", contract()])}
