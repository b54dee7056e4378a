"""Find relations between columns, the simplest for each column."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.foldse.literals import predicate_name
from p2c._learn.relations.columns import read_table
from p2c._learn.relations.equations import find_pairs, find_sums, find_triples
from p2c._learn.relations.patterns import clock_text, find_clock, find_groups, find_orders
from p2c._learn.relations.relation import Relation, RelationKind, relation_id
from p2c._learn.relations.steps import find_steps
from p2c.errors import P2CError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from p2c._learn.relations.candidate import Find, Judged
    from p2c._learn.relations.columns import DataColumn, DataTable
    from p2c._learn.relations.patterns import Group

THRESHOLD = 0.95
RATIO_NAME = re.compile(r"ratio|rate|pct|percent|share|per_|_per|prc|util|dti|ltv|frac|avg|mean")
TOTAL_NAME = re.compile(r"total|sum(?:$|_)|overall|altogether")
EXAMPLES = 3
"""Maximum number of counterexamples that a candidate keeps."""


def find_relations(
    frame: Any,
    names: Mapping[str, str] | None = None,
    *,
    threshold: float = THRESHOLD,
    seed: int = 0,
) -> tuple[Relation, ...]:
    """Return the relations that the rows of a table suggest.

    Args:
        frame: A pandas, polars or other eager frame.
        names: The feature of each column; by default the name of the column as rules write it.
        threshold: The least share of rows on which an equation holds.
        seed: Random seed for the rows on which candidates are screened.
    """
    if (
        isinstance(threshold, bool)
        or not isinstance(threshold, int | float)
        or not 0.5 <= threshold <= 1
    ):
        raise P2CError(f"threshold: expected a share from 0.5 to 1, found {shown(threshold)}")
    columns = [str(each) for each in getattr(frame, "columns", ())]
    table = read_table(
        frame, dict(names or {each: predicate_name(each) for each in columns}), seed=seed
    )
    with np.errstate(all="ignore"):
        return tuple(_relations(table, threshold))


def one_hot_groups(frame: Any) -> dict[str, tuple[str, ...]]:
    """Return the one-hot groups of a pandas frame.

    Args:
        frame: A table, of which only columns of numbers and truth values are looked at.

    Returns:
        The columns of each group, by a name for it.
    """
    numbers = frame.select_dtypes(["number", "bool"])
    names = [str(each) for each in numbers.columns]
    if len(names) < 2 or not len(frame):
        return {}
    table = read_table(numbers, {each: each for each in names}, seed=0, any_name=True)
    taken = {predicate_name(str(each)) for each in frame.columns}
    groups = {}
    for each in find_groups(table):
        name = re.sub(r"\W+", "_", predicate_name(each.name)).strip("_")
        name = name if name not in taken else f"{name}_group"
        groups[name] = tuple(column.name for column in each.columns)
    return groups


def _relations(table: DataTable, threshold: float) -> Iterator[Relation]:
    groups = tuple(find_groups(table))
    finds = [
        *find_pairs(table, threshold=threshold),
        *find_steps(table, threshold=threshold),
        *find_triples(table, threshold=threshold),
    ]
    chosen = choose(finds, groups)
    computed = [each.target.name for each in chosen]
    chosen = choose([*chosen, *find_sums(table, computed, threshold=threshold)], groups)
    computed = [each.target.name for each in chosen]
    for each in chosen:
        yield _equation(table, each)
    for group in groups:
        if not _is_computed(group, chosen):
            yield _one_hot(table, group)
    apart = {frozenset((a, b)) for each in chosen for a in each.names for b in each.names if a != b}
    copies = {each.target.name for each in chosen if each.kind in SAME}
    for low, high, judged in find_orders(table, apart, threshold=threshold):
        if not copies & {low.name, high.name}:
            yield _order(table, low, high, judged)
    clock = tuple(each for each in find_clock(table) if each.name not in computed)
    if len(clock) > 1:
        text = clock_text(clock)
        features = tuple(each.name for each in clock)
        yield Relation(relation_id(clock[0].name, text), RelationKind.CLOCK, features, text, 0, 0)


SAME = frozenset({RelationKind.COPY, RelationKind.LINEAR})
"""Kinds of equations that only convert a column."""


def choose(finds: Iterable[Find], groups: Sequence[Group]) -> list[Find]:
    """Return at most one equation for each column, without cycles.

    The simplest and surest come first.

    A column that only converts another one appears in no further equation, and columns of one group explain each other
    by their group.
    """
    members = {each.name: group.name for group in groups for each in group.columns}
    by_names: dict[frozenset[str], list[Find]] = {}
    for each in finds:
        inside = {members.get(name, name) for name in each.names}
        if len(inside) > 1 or len(each.names) == 1:
            by_names.setdefault(each.names, []).append(each)
    best = [max(same, key=_preference) for same in by_names.values()]
    best.sort(key=lambda each: (each.effort, -round(each.judged.share, 3), each.target.place))
    chosen: list[Find] = []
    computed: dict[str, frozenset[str]] = {}
    converted: set[str] = set()
    for each in best:
        inputs = each.names - {each.target.name}
        if each.target.name in computed or each.names & converted:
            continue
        if each.target.name in _all_inputs(inputs, computed):
            continue
        chosen.append(each)
        computed[each.target.name] = inputs
        if each.kind in SAME:
            converted.add(each.target.name)
    return chosen


def _preference(find: Find) -> tuple[float, ...]:
    """Return a key that orders equations of the same columns."""
    share = round(find.judged.share, 2)
    return (share, -find.effort, find.target.is_number, _naturalness(find), find.target.place)


def _naturalness(find: Find) -> float:
    target = find.target
    last = all(target.place > each.place for each in find.operands)
    if find.kind is RelationKind.RATIO:
        return 2.0 if target.half_unit is None or RATIO_NAME.search(target.name) else 0.0
    if find.kind is RelationKind.SUM:
        return 2.0 if TOTAL_NAME.search(target.name) else float(last)
    return 1.0


def _all_inputs(names: Iterable[str], computed: Mapping[str, frozenset[str]]) -> set[str]:
    """Return columns and everything that they are computed from."""
    inputs: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in inputs:
            inputs.add(name)
            pending += computed.get(name, ())
    return inputs


def _is_computed(group: Group, chosen: Iterable[Find]) -> bool:
    """Tell whether equations compute all columns of a group, or all but one."""
    computed = {each.target.name for each in chosen}
    return sum(each.name not in computed for each in group.columns) <= 1


def _equation(table: DataTable, find: Find) -> Relation:
    columns = (find.target, *find.operands)
    is_rules = find.target.words is not None
    text = find.text if is_rules else f"{find.target.name} = {find.text}"
    return _relation(table, find.kind, columns, text, find.judged)


def _one_hot(table: DataTable, group: Group) -> Relation:
    text = f"{group.name}: {', '.join(each.name for each in group.columns)}"
    return _relation(table, RelationKind.GROUP, group.columns, text, group.judged, name=group.name)


def _order(table: DataTable, low: DataColumn, high: DataColumn, judged: Judged) -> Relation:
    text = f":- {low.name}(X,A), {high.name}(X,B), A > B."
    return _relation(table, RelationKind.ORDER, (low, high), text, judged)


def _relation(
    table: DataTable,
    kind: RelationKind,
    columns: tuple[DataColumn, ...],
    text: str,
    judged: Judged,
    *,
    name: str = "",
) -> Relation:
    return Relation(
        relation_id(name or columns[0].name, text),
        kind,
        tuple(each.name for each in columns),
        text,
        int(judged.valid.sum()),
        int(judged.holds.sum()),
        table.examples(columns, judged.valid & ~judged.holds, EXAMPLES),
    )
