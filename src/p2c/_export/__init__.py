"""A person's question in the languages of other tools, ready to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c._export.opb import opb_files
from p2c._export.pddl import pddl_files
from p2c._export.programs import canonical_files, clingo_files, scasp_files, schema_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from p2c._plan.compiled.space import Space
    from p2c._spec.feature import Value

    Files = dict[str, str]
    """The text of each file by its name."""

EXPORTS: dict[str, Callable[[Space, Mapping[str, Value]], Files]] = {
    "scasp": scasp_files,
    "clingo": clingo_files,
    "pddl": pddl_files,
    "opb": opb_files,
    "json": canonical_files,
    "json-schema": schema_files,
}
