"""A person's question for clingo alone, as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.engines.case import Case, first_actions
from p2c.engines.steps import Steps, algorithms
from p2c.export.scasp_text import file_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Value
    from p2c.plan.compiled.space import Space

MOST_STEPS = 24
"""Actions of a path that are looked for at most, unless the reader asks for more."""

HEADER = """\
% {name}: the cheapest path to the goal for one person, as clingo finds it.
%
%   clingo --opt-strategy=bb,lin {name}.lp
%
% The cost of the path is {words}, where cost is the {place} number after `Optimization:`.
% Paths have up to `horizon` actions, effects included; {proof}.
%
% do(F,V,W,T): at time T the person sets the feature F from V to W. then(F,W,T): F takes the value W by itself.

#const horizon = {horizon}.
"""


def clingo_files(space: Space, state: Mapping[str, Value]) -> dict[str, str]:
    """Return the program of a person."""
    case = Case.of(space, state)
    text = Steps(case)
    enough = text.enough
    horizon = min(enough, MOST_STEPS)
    name = file_name(space.theory.name)
    header = HEADER.format(
        name=name,
        words=text.tariff.words,
        place="second" if first_actions(case) else "first",
        horizon=horizon,
        proof="that is enough but for supported effects and cycles of causal rules"
        if horizon == enough
        else f"{enough} would be enough but for supported effects and cycles, -c horizon=... asks for more",
    )
    return {f"{name}.lp": "\n".join([header, *text.lines(), "", algorithms()])}
