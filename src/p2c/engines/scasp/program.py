"""The whole program for one person: the rules, the laws, what may be done, and the paper's algorithms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING

from p2c.domain.feature import exact
from p2c.engines.scasp.actions import Actions, impossible
from p2c.engines.scasp.laws import Laws
from p2c.engines.scasp.places import Reach
from p2c.engines.scasp.rules import Rules
from p2c.engines.scasp.terms import rule, value

if TYPE_CHECKING:
    from fractions import Fraction

    from p2c.plan.compiled.transitions import Transitions


@dataclass(frozen=True)
class ScaspProgram:
    """A person's question as text; only features that matter to the goal have a place in its states."""

    dynamics: Transitions

    @cached_property
    def laws(self) -> Laws:
        """Return the laws of the problem for the person."""
        person = self.dynamics.person
        own = person.state(person.places)
        rules = Rules(person.space.theory, frozenset(n for n, v in own.items() if v is None))
        return Laws(rules, rules.ordered(person.space.concerned), own)

    @cached_property
    def reaches(self) -> dict[str, Reach]:
        """Return what each feature can come to."""
        index = self.dynamics.person.space.index
        return {name: Reach(self.dynamics, index[name]) for name in self.laws.features}

    @cached_property
    def values(self) -> dict[tuple[str, str | Fraction], int]:
        """Return the place of each value that an answer may name."""
        found: dict[tuple[str, str | Fraction], int] = {}
        for name, reach in self.reaches.items():
            for place in reach.places:
                each = self.dynamics.person.value(reach.index, place)
                if each is not None:
                    found[name, each if isinstance(each, str) else exact(each)] = place
        return found

    @cached_property
    def text(self) -> str:
        """Return the program, without a query."""
        laws, theory = self.laws, self.laws.rules.theory
        actions = Actions(laws, self.reaches)
        own = ", ".join(value(laws.own[name]) for name in laws.features)
        goal = rule(f"goal({laws.state()})", laws.rules.body(theory.goal))
        sections = {
            "Decision rules, over the values of the features that they read.": self._decisions(),
            "Causal rules and constraints: which fire, and what they allow.": list(laws.lines()),
            "The goal.": [f"% {theory.goal_text}", goal],
            "States that obey every law, and those that do not.": list(laws.consistency()),
            "Direct actions: what the person may do, with the effort that it takes.": list(
                actions.direct()
            ),
            "Causal actions: what then happens by itself.": list(actions.causal()),
            "The person.": [f"% {', '.join(laws.features)}", f"start([{own}])."],
        }
        lines = [line for section in sections.values() for line in section]
        # Tests are named where they are first used, so only now are all of them known.
        sections["Tests that have a name of their own."] = list(laws.rules.test_rules())
        sections["What there is nothing of."] = list(impossible(lines))
        parts = ["\n".join([f"% {title}", *each]) for title, each in sections.items() if each]
        algorithms = resources.files(__package__).joinpath("path.pl").read_text(encoding="utf-8")
        return "\n\n".join([*parts, algorithms])

    def _decisions(self) -> list[str]:
        laws, theory = self.laws, self.laws.rules.theory
        bodies = [clause.body for name in laws.governed for clause in theory.rules_of[name]]
        bodies += [clause.body for clause in laws.constraints.values()]
        called = [each for body in [*bodies, theory.goal] for each in body]
        return list(laws.rules.decisions(called))
