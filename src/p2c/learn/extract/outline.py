"""A problem around the rules of a model: its features from the table, its goal from the outcome that is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from p2c.errors import P2CError
from p2c.learn.tables.domains import domain_from_frame

if TYPE_CHECKING:
    from p2c.learn.extract.logic import Extraction
    from p2c.learn.extract.source import Source
    from p2c.learn.tables.domains import Scale


def outline_problem(
    source: Source,
    extraction: Extraction,
    *,
    name: str = "recourse",
    scale: Scale = "range",
    actions: Mapping[Any, str] | None = None,
    features: Mapping[Any, Mapping[str, Any]] | None = None,
    causal: str = "",
    origin: str = "",
) -> dict[str, Any]:
    """Return the problem of reaching the desired outcome, causal rules given as text before those of the model.

    `actions` says who may change a feature, `features` adds or replaces any of its keys, both by the names of columns. `origin`
    is what the model or the table goes by, such as the name of its file.
    """
    described = domain_from_frame(source.table, scale=scale)
    for column, keys in (features or {}).items():
        if not isinstance(keys, Mapping):
            raise P2CError(
                f"features: expected keys for {column!r}, as in {{'min': 0}}, found {keys!r}"
            )
        described[source.view.feature(column)].update(keys)
    for column, action in (actions or {}).items():
        described[source.view.feature(column)]["action"] = action
    written = f"{causal.rstrip()}\n" if causal else ""
    remark = "".join(f"% {line}\n" for line in extraction.remark.splitlines())
    learned = extraction.source
    named = {"name": origin} if origin else {}
    return {
        "name": name,
        "goal": extraction.goal,
        **({"source": learned | named} if learned else {}),
        "rules": f"{written}{remark}{extraction.program}\n",
        "features": described,
    }
