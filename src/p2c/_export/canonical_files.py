"""Canonical JSON questions that `p2c_verify` reads with a plan and certificate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from p2c._export.programs import file_name
from p2c._plan.certificate.canonical import canonical, canonical_row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._plan.compiled.space import Space
    from p2c._spec.feature import Value


def canonical_files(space: Space, state: Mapping[str, Value]) -> dict[str, str]:
    """Return the problem with its parsed model, and the row, as canonical JSON files."""
    name = file_name(space.theory.name)
    documents = {"problem": canonical(space.theory), "row": canonical_row(state)}
    return {
        f"{name}-{kind}.json": json.dumps(document, ensure_ascii=False) + "\n"
        for kind, document in documents.items()
    }
