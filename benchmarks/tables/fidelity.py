"""Table 4: how well a model decides, and how well the rules that FOLD-SE reads off it stand in for it.

The measurement is that of `benchmarks.fidelity`; here it is made split by split, so that it can be stored.
"""

from __future__ import annotations

import statistics
import warnings
from typing import TYPE_CHECKING, Any

from benchmarks.fidelity import MODELS, one_split, tables
from benchmarks.tables.supplement import PRINTED, mean
from benchmarks.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

PAPER_SPLITS = 5
HEAD = ("data set", "model", "splits", "fidelity", "accuracy", "precision", "recall", "F1")


def measure(name: str, model: str, seed: int) -> dict[str, Any]:
    """Return the scores of one split in percent: the model's four, and the five of its rules."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = one_split(*tables()[name], MODELS[model], seed)
    return {
        "model": [100 * float(share) for share in scores.model],
        "rules": [100 * float(share) for share in scores.rules],
    }


def table(found: dict[tuple[str, str], list[dict[str, Any]]]) -> Table:
    """Return table 4 from the splits that were measured, the paper's figures below ours."""
    rows = []
    for (name, model), splits in found.items():
        count = str(len(splits))
        own = _columns([each["model"] for each in splits])
        rules = _columns([each["rules"] for each in splits])
        for title, figures in ((model, ("–", *own)), (f"FOLD-SE[{model}]", rules)):
            rows.append((name, title, count, *figures))
            rows.append((name, f"{title}, paper", str(PAPER_SPLITS), *PRINTED[name, title]))
    return Table(
        "Table 4: models and the rules that stand in for them, in percent",
        HEAD,
        tuple(rows),
        (
            "Mean ± standard deviation over random splits of 80/20; precision, recall and F1 are weighted by class. The models are "
            "scikit-learn's, not the authors'.",
            *_unfinished(found),
        ),
    )


def behind(found: dict[tuple[str, str], list[dict[str, Any]]]) -> tuple[str, ...]:
    """Say where our rules stand in for a model less well than the paper's, by the means."""
    lower = []
    for (name, model), splits in found.items():
        own = statistics.fmean(each["rules"][0] for each in splits)
        printed = PRINTED[name, f"FOLD-SE[{model}]"][0]
        if own < mean(printed):
            lower.append(f"{name} {model} ({own:.1f}, the paper {printed})")
    told = f"Table 4: the paper's rules agree more with its models than ours with ours: {', '.join(lower)}."
    return (told,) if lower else ()


def _unfinished(found: dict[tuple[str, str], list[dict[str, Any]]]) -> tuple[str, ...]:
    """Say which models have fewer splits than the paper, if any has."""
    pairs = [(name, model) for name, model in PRINTED if model in MODELS]
    counts = {pair: len(found.get(pair, ())) for pair in pairs}
    short = [f"{name} {model} {n}" for (name, model), n in counts.items() if n < PAPER_SPLITS]
    told = f"Fewer than {PAPER_SPLITS} splits were measured in this run: {', '.join(short)}."
    return (told,) if short else ()


def _columns(splits: Sequence[Sequence[float]]) -> tuple[str, ...]:
    return tuple(_spread(column) for column in zip(*splits, strict=True))


def _spread(values: Sequence[float]) -> str:
    spread = f" ± {statistics.pstdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.1f}{spread}"
