"""Answers with their certificates, as the checker reads them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p2c._plan.certificate.canonical import canonical, canonical_row
from p2c._plan.certificate.certify import certificate_for
from p2c.errors import P2CError
from p2c_verify import Report, verify
from p2c_verify.claims import digests
from p2c_verify.problem import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p2c._spec.feature import Value
    from p2c.problem import Problem


@dataclass(frozen=True)
class Certified:
    """A problem, a row, a plan and its certificate."""

    problem: Problem
    row: Mapping[str, Value]
    plan: dict[str, Any]
    certificate: dict[str, Any]

    def verify(self, *, forge: bool = False) -> Report:
        """Verify the claim; `forge` first makes the digests fit."""
        problem, row, plan, certificate = (
            parse(json.dumps(each))
            for each in (
                canonical(self.problem.theory),
                canonical_row(self.row),
                self.plan,
                self.certificate,
            )
        )
        if forge:
            certificate |= digests(problem, row)
        return verify(problem, row, plan, certificate)


def certified(problem: Problem, row: Mapping[str, Any], plan: dict[str, Any]) -> Certified:
    """Return a plan with its certificate."""
    state = problem.read_row(row)
    return Certified(problem, state, plan, certificate_for(problem.theory, state, plan))


def certified_answers(
    pairs: Iterable[tuple[Problem, Mapping[str, Any]]],
) -> Iterator[Certified]:
    """Yield the certified answer to each question; skip rows that `strict` refuses."""
    for problem, row in pairs:
        try:
            plan = problem.plan(row)
        except P2CError:
            continue
        yield certified(problem, row, plan.to_dict())
