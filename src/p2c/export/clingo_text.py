"""A person's question for clingo alone, as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.engines.clingo.encoding import Encoding, contract
from p2c.engines.instance import Instance, first_actions
from p2c.export.scasp_text import file_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Value
    from p2c.plan.compiled.space import Space

MOST_STEPS = 24
"""Steps of a path that are looked for at most, unless the reader asks for more."""

HEADER = """\
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


def clingo_files(space: Space, state: Mapping[str, Value]) -> dict[str, str]:
    """Return the program of a person."""
    instance = Instance.of(space, state)
    encoding = Encoding(instance)
    enough = encoding.enough
    name = file_name(space.theory.name)
    header = HEADER.format(
        name=name,
        words=encoding.tariff.words,
        place="second" if first_actions(instance) else "first",
        horizon=MOST_STEPS if encoding.astray else min(enough, MOST_STEPS),
        proof=ASTRAY if encoding.astray else LONG.format(enough) if enough > MOST_STEPS else ALL,
    )
    return {f"{name}.lp": "\n".join([header, *encoding.lines(), "", contract()])}
