"""Read the text of a relation: equations, rules and one-hot groups, one a line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c._rules.parse import parse
from p2c.errors import ReviewError, RuleError, shorten, suggestion

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

GROUP = re.compile(r"([a-z_]\w*)\s*:\s*([a-z_]\w*(?:\s*,\s*[a-z_]\w*)+)")
EQUATION = re.compile(r"([a-z_]\w*)\s*=(?!<)\s*(\S.*)")


@dataclass(frozen=True, slots=True)
class Declared:
    """Statements of a problem that come from relations.

    Attributes:
        equations: The expression of each computed feature.
        rules: Constraints and causal rules, one a line.
        groups: The columns of each one-hot group.
    """

    equations: dict[str, str]
    rules: str
    groups: dict[str, tuple[str, ...]]

    @property
    def heads(self) -> tuple[str, ...]:
        """Return the features that the equations and rules determine."""
        heads = (rule.head.predicate for rule in parse(self.rules).rules if rule.head)
        return (*self.equations, *dict.fromkeys(heads))


def read_declared(id_: str, text: str, features: Collection[str]) -> Declared:
    """Read the text of a relation.

    Args:
        id_: The id of the candidate, for errors.
        text: Lines such as `dti = debt / income`, `:- low(X,A), high(X,B), A > B.` or `home: home_own, home_rent`.
        features: The names that the text may use.

    Raises:
        ReviewError: A line is none of these, or names no feature.
    """
    equations: dict[str, str] = {}
    groups: dict[str, tuple[str, ...]] = {}
    rules: list[str] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.endswith("."):
            rules.append(line)
        elif match := EQUATION.fullmatch(line):
            equations[match[1]] = match[2]
        elif match := GROUP.fullmatch(line):
            groups[match[1]] = tuple(re.split(r"\s*,\s*", match[2]))
        else:
            raise _refusal(
                id_,
                f"expected an equation 'a = b / c', a rule that ends in a full stop or a group"
                f" 'name: a, b', found '{shorten(line, 60)}'",
            )
    if not (equations or groups or rules):
        raise _refusal(id_, "expected an equation, a rule or a group, found an empty text")
    try:
        parse("\n".join(rules))
    except RuleError as error:
        raise _refusal(id_, str(error)) from error
    declared = Declared(equations, "\n".join(rules), groups)
    members = (each for columns in groups.values() for each in columns)
    for name in (*equations, *members):
        if name not in features:
            raise _refusal(id_, f"no feature '{name}'; {suggestion(name, features)}")
    return declared


def merged(parts: Iterable[tuple[str, Declared]]) -> Declared:
    """Return all that several relations declare.

    Args:
        parts: The id and the content of each relation.

    Raises:
        ReviewError: Two of them have an equation for the same feature, or a group of the same name.
    """
    equations: dict[str, str] = {}
    groups: dict[str, tuple[str, ...]] = {}
    rules: list[str] = []
    for id_, each in parts:
        for name, expression in each.equations.items():
            if equations.setdefault(name, expression) != expression:
                raise _refusal(id_, f"another approved relation has an equation for '{name}'")
        for name, columns in each.groups.items():
            if groups.setdefault(name, columns) != columns:
                raise _refusal(id_, f"another approved relation has a group '{name}'")
        rules += [line for line in each.rules.splitlines() if line not in rules]
    return Declared(equations, "\n".join(rules), groups)


def _refusal(id_: str, message: str) -> ReviewError:
    return ReviewError(f"{id_}: {message}", rules=[id_])
