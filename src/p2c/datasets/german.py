"""Statlog German Credit: 1,000 loans of a German bank, each a good or a bad risk.

The codes are decoded by `german.doc`. A value that the paper's rules name keeps that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.datasets.embedded import raw_lines

if TYPE_CHECKING:
    from p2c.datasets.embedded import Row

COLUMNS = (
    "checking_account_status",
    "duration_months",
    "credit_history",
    "purpose",
    "credit_amount",
    "savings_account",
    "present_employment_since",
    "installment_rate",
    "personal_status_and_sex",
    "other_debtors",
    "present_residence_since",
    "property",
    "age",
    "other_installment_plans",
    "housing",
    "existing_credits",
    "job",
    "people_liable",
    "telephone",
    "foreign_worker",
    "label",
)
NUMERIC = frozenset(
    {
        "duration_months",
        "credit_amount",
        "installment_rate",
        "present_residence_since",
        "age",
        "existing_credits",
        "people_liable",
    }
)
LABELS = {"1": "good", "2": "bad"}
CODES = {
    "A11": "less_than_0_dm",
    "A12": "0_to_200_dm",
    "A13": "at_least_200_dm",
    "A14": "no_checking_account",
    "A30": "none_taken/all_dues_cleared",
    "A31": "all_dues_atbank_cleared",
    "A32": "existing_dues_cleared_for_now",
    "A33": "delay_in_paying_off",
    "A34": "critical_account",
    "A40": "new_car",
    "A41": "used_car",
    "A42": "furniture/equipment",
    "A43": "radio/television",
    "A44": "domestic_appliances",
    "A45": "repairs",
    "A46": "education",
    "A47": "vacation",
    "A48": "retraining",
    "A49": "business",
    "A410": "others",
    "A61": "less_than_100_dm",
    "A62": "100_to_500_dm",
    "A63": "500_to_1000_dm",
    "A64": "at_least_1000_dm",
    "A65": "unknown/no_savings_account",
    "A71": "unemployed",
    "A72": "less_than_1_year",
    "A73": "1_to_4_years",
    "A74": "4_to_7_years",
    "A75": "at_least_7_years",
    "A91": "male:divorced/separated",
    "A92": "female:divorced/separated/married",
    "A93": "male:single",
    "A94": "male:married/widowed",
    "A95": "female:single",
    "A101": "none",
    "A102": "co-applicant",
    "A103": "guarantor",
    "A121": "real_estate",
    "A122": "building_society/savings_agreement/life_insurance",
    "A123": "car or other",
    "A124": "unknown/no_property",
    "A141": "bank",
    "A142": "stores",
    "A143": "none",
    "A151": "rent",
    "A152": "own",
    "A153": "for_free",
    "A171": "unemployed/unskilled-non_resident",
    "A172": "unskilled-resident",
    "A173": "skilled_employee/official",
    "A174": "management/self-employed/highly_qualified/officer",
    "A191": "none",
    "A192": "registered",
    "A201": "yes",
    "A202": "no",
}


def read_german() -> list[Row]:
    """Read `german.data` with its codes decoded."""
    return [_row(line) for line in raw_lines("german.data")]


def _row(line: str) -> Row:
    cells = dict(zip(COLUMNS, line.split(), strict=True))
    row: Row = {
        name: int(text) if name in NUMERIC else CODES[text]
        for name, text in cells.items()
        if name != "label"
    }
    row["label"] = LABELS[cells["label"]]
    return row
