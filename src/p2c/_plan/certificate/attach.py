"""Certificates of plans: made, verified by the independent checker, attached."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import p2c_verify
from p2c._plan.certificate.canonical import canonical, canonical_row
from p2c._plan.certificate.certify import certificate_for
from p2c._plan.outcome import Already, Found, GaveUp, Infeasible, answer_to
from p2c.errors import UncertifiedError
from p2c_verify.problem import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._plan.outcome import Plan
    from p2c._rules.theory import Theory


def with_certificate(theory: Theory, plan: Plan, *, time_limit: float | None = None) -> Plan:
    """Return a plan with its verified certificate, or with the reason for its lack.

    Args:
        theory: The problem as it was asked.
        plan: The answer.
        time_limit: Seconds for making the certificate and having it checked, which takes no longer than making it;
            None for no limit.
    """
    question = plan.question
    try:
        if isinstance(plan, GaveUp) or plan.proof == "none":
            raise UncertifiedError("no certificate: the answer claims nothing that could be proved")
        row = question.row
        seconds = None if time_limit is None else time_limit / 2
        certificate = certificate_for(theory, row, plan.to_dict(), time_limit=seconds)
        verify_claim(theory, row, plan.to_dict(), certificate)
    except UncertifiedError as error:
        return answer_to(replace(question, uncertified=str(error)), plan)
    certified = answer_to(replace(question, certificate=certificate), plan)
    assert isinstance(certified, Found | Already | Infeasible)
    return replace(certified, proof="certificate")


def verify_claim(
    theory: Theory,
    row: Mapping[str, Any],
    plan: Mapping[str, Any],
    certificate: Mapping[str, Any],
) -> p2c_verify.Report:
    """Verify a plan and its certificate with the independent checker.

    Raises:
        UncertifiedError: The checker does not accept them.
    """
    documents = (canonical(theory), canonical_row(row), dict(plan), dict(certificate))
    try:
        return p2c_verify.verify(*(parse(json.dumps(each)) for each in documents))
    except p2c_verify.VerifyError as error:
        raise UncertifiedError(str(error)) from None
