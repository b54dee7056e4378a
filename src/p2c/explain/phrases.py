"""The catalogue of phrases: every word that a reader sees and that is not the problem's own.

A language is one value of `Phrases`. To add one, write a file like this with another value; no code changes. Words in
braces are filled in: `{label}`, `{value}` and the like keep their names in every language. A clause has neither a
capital at its start nor a full stop at its end; those are added when it becomes a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from p2c.rules.syntax import Comparator

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, eq=False)
class Phrases:
    """One language's phrases."""

    statement: str
    """What is said of a feature that has no `phrase` of its own."""
    unknown_statement: str
    """What is said of a feature whose value is missing."""
    relations: Mapping[Comparator, str]
    """How a value stands to a constant, as words that follow the statement."""
    unknown_relations: Mapping[Comparator, str]
    """What a missing value does not count as."""
    goal_met: str
    goal_missed: str
    applies: str
    applies_not: str
    always: str
    left_out: str
    """What stands for reasons too deep or too many to be told."""
    decision: str
    decision_with: str
    exception: str
    conjunction: str
    full_stop: str
    with_unit: str
    thousands: str
    decimal: str
    unknown: str
    """How a missing value is shown."""
    act: str
    """What the person does."""
    effect: str
    """What then happens by itself."""
    assumed: str
    effort: str
    proved_least: str
    already: str
    no_way: str
    lift: str
    """What would open a way."""
    no_lift: str
    restrictions: Mapping[str, str]
    """What each restriction says, as words that follow `that`."""
    excused_value: str
    """What is said of a value that the person has although the rules would not have it so."""
    excused_constraint: str
    gave_up: str
    nothing_found: str
    best_so_far: str


ENGLISH = Phrases(
    statement="your {label} is {value}",
    unknown_statement="your {label} is not known",
    relations=MappingProxyType(
        {
            Comparator.EQ: "{statement}",
            Comparator.NE: "{statement} rather than {constant}",
            Comparator.LT: "{statement}, which is below {constant}",
            Comparator.LE: "{statement}, which is at most {constant}",
            Comparator.GT: "{statement}, which is above {constant}",
            Comparator.GE: "{statement}, which is at least {constant}",
        }
    ),
    unknown_relations=MappingProxyType(
        {
            Comparator.EQ: "{statement}, so it does not count as {constant}",
            Comparator.NE: "{statement}, so it does not count as other than {constant}",
            Comparator.LT: "{statement}, so it does not count as below {constant}",
            Comparator.LE: "{statement}, so it does not count as at most {constant}",
            Comparator.GT: "{statement}, so it does not count as above {constant}",
            Comparator.GE: "{statement}, so it does not count as at least {constant}",
        }
    ),
    goal_met="you reach the goal: {reason}",
    goal_missed="you do not reach the goal: {reason}",
    applies="{decision} applies to you",
    applies_not="{decision} does not apply to you",
    always="this is so for everybody",
    left_out="the reasons behind this are left out here",
    decision="“{name}”",
    decision_with="“{name}: {arguments}”",
    exception="exception {number}",
    conjunction=", and ",
    full_stop=".",
    with_unit="{value} {unit}",
    thousands=",",
    decimal=".",
    unknown="unknown",
    act="change your {label} from {start} to {end}",
    effect="by itself, your {label} then goes from {start} to {end}",
    assumed="other outcomes are as near; the plan counts on this one",
    effort="the effort is {cost}, measured as {norm}",
    proved_least="no cheaper way exists; this is proved",
    already="nothing has to change: the decision is already the one you want",
    no_way="there is no way from here; this is proved",
    lift="a way would open if it were not for this: {restrictions}",
    no_lift="none of your restrictions is the reason: the rules themselves leave no way",
    restrictions=MappingProxyType(
        {
            "fixed": "your {label} is fixed",
            "up": "your {label} may only rise",
            "down": "your {label} may only fall",
            "effect": "your {label} cannot be changed directly",
            "moves": "your {label} may only change in certain ways",
            "limits": "your {label} has to stay within its limits",
        }
    ),
    excused_value="your {label} of {value} is an exception to what usually follows from the rest, and is taken as it is",
    excused_constraint="you break a constraint of the problem as you are, and that is taken as it is",
    gave_up="the search stopped at its limit; no way costs less than {bound}",
    nothing_found="no way was found until then",
    best_so_far="the best way found until then is this",
)
