"""The program that the s(CASP) engine runs, with its query, as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.engines.instance import Instance
from p2c.engines.scasp.places import most_effort
from p2c.engines.scasp.program import ScaspProgram

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Value
    from p2c.plan.compiled.space import Space

HEADER = """\
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


def scasp_files(space: Space, state: Mapping[str, Value]) -> dict[str, str]:
    """Return the program of a person."""
    instance = Instance.of(space, state)
    program = ScaspProgram(instance.dynamics)
    name = file_name(space.theory.name)
    header = HEADER.format(name=name, features=", ".join(program.laws.features))
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
