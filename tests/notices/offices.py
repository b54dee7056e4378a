"""Lenders and cases that have every field of every form."""

from __future__ import annotations

from typing import Any

FIELDS: dict[str, Any] = {
    "creditor": "Example Bank",
    "creditor_address": "1 Main Street\nSpringfield, IL 62701",
    "creditor_contact": "info@bank.example",
    "creditor_phone": "(555) 010-2000",
    "place": "Springfield",
    "date": "2027-01-31",
    "closing": {"en": "Yours faithfully", "de": "Mit freundlichen Grüßen", "fr": "Cordialement"},
    "signature": "A. Officer",
    "legal": "Example Bank, registered in Springfield",
    "salutation": {"en": "Dear John Doe", "de": "Guten Tag, John Doe", "fr": "Bonjour John Doe"},
    "action_taken": {
        "en": "We have denied your request for credit.",
        "de": "Wir haben Ihren Kreditantrag abgelehnt.",
        "fr": "Nous avons refusé votre demande de crédit.",
    },
    "consumer_report": True,
    "consumer_agency": "Score House",
    "consumer_agency_address": "3 Oak Street, Chicago",
    "consumer_agency_phone": "(800) 555-0100",
    "credit_score_used": True,
    "credit_score": 599,
    "credit_score_date": "2027-01-15",
    "credit_score_low": 300,
    "credit_score_high": 850,
    "credit_score_source": "Score House",
    "key_factors": ["Amount owed on accounts", "Length of the credit history"],
    "outside_source": True,
    "federal_agency": "Bureau of Consumer Financial Protection, 1700 G Street NW, Washington DC 20552",
    "data_sheet": True,
    "logic": "rules that were agreed upon",
    "risks": "a rule can be wrong in a single case",
    "contact": "01 555 100",
    "contest": "write to us within a month",
    "debt_advice": "Debt Help, 5 Elm Street",
    "database": True,
    "database_name": "Credit Base, 9 Ash Street",
    "database_result": "two late payments",
    "database_data": "loans",
    "retention_months": 36,
    "role": "It looked at the data and said no.",
    "system": "p2c, Example Bank, version 1",
    "data_categories": "money and loans",
    "more_information": "call 01 555 101",
    "correction": "call 01 555 102",
    "human_review": "call 01 555 103",
}
CASE = {
    "applicant": "John Doe",
    "applicant_address": "2 Elm Street\nSpringfield",
    "reference": "K-4711",
    "account": "5,000",
}


def lender(**more: Any) -> dict[str, Any]:
    """Return a lender's file with every field."""
    return {"protected": [], "fields": FIELDS, "sources": {"*": "files"}, **more}
