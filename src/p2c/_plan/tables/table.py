"""Many people at once: a table in, a table out, in row order.

Rows are placed a column at a time, sorted into the classes that rules see alike, and every route of a class is priced for all
its people in one stroke. A value off the grid belongs to the class of its neighbours on the grid where these are of one
class; its routes are the same, only priced one row at a time. What classes do not cover (a value between two
classes, an exception that hangs on it, problems too large for classes) is planned row by row. A row that does not fit
the problem gets the status `invalid` and a message, and never stops the table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from p2c._plan.answer import refuse_if_strict
from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.person import grid_measures, place_person
from p2c._plan.outcome import Infeasible
from p2c._plan.tables.cells import listed, plan_cells, step_texts
from p2c._plan.tables.class_routes import Route, best_route, class_routes
from p2c._plan.tables.encode import ASTRAY, INVALID, WIDEST, Coded, Words, decode, encode
from p2c._spec.feature import Kind, exact
from p2c._spec.row import read_row, read_value
from p2c._spec.spec import Minimize
from p2c.errors import RowError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from p2c._plan.compiled.axis import Axis
    from p2c._plan.compiled.person import Line, Person
    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import Plan
    from p2c._plan.search.best_first import Key
    from p2c._plan.tables.class_routes import Entry
    from p2c._plan.tables.encode import Column, Whole
    from p2c._spec.feature import Value
    from p2c._spec.row import State

    Tell = Callable[[int], None]


@dataclass(frozen=True)
class Batch:
    """The answers for some rows, a column each; `routes` says what is done, by number."""

    space: Space
    solver: Solver
    own: Mapping[str, Column | Coded]
    places: dict[int, Whole]
    near: dict[int, Whole]
    """The places again, with that of a neighbour for a value off the grid whose neighbours have one future."""
    astray: Column
    """Whether a row has a value off the grid."""
    cost: Column
    words: dict[str, Words]
    """The columns of texts."""
    stuck: list[Whole] = field(default_factory=list)
    """The rows without a way, those of one class together."""
    tell: Tell = field(default=lambda _: None)
    """Is told how many rows more have their answers."""
    ends: dict[str, list[Value]] | None = None
    """End values of each feature, in a problem with arithmetic."""
    _texts: dict[int, tuple[str, str]] = field(default_factory=dict)

    def columns(self) -> dict[str, Column | Coded]:
        """Return the columns of the answer."""
        ends = self._ends_as_columns() if self.ends is not None else self._ends_by_place()
        words = {name: each.coded() for name, each in self.words.items()}
        return {"status": words.pop("status"), "cost": self.cost, **ends, **words}

    def _ends_as_columns(self) -> dict[str, Column | Coded]:
        ends: dict[str, Column | Coded] = {}
        for name, values in (self.ends or {}).items():
            kind = self.space.theory.feature[name].kind
            if not kind.is_number:
                ends[f"end_{name}"] = _listed_column(values)
            elif kind is Kind.FLOAT:
                ends[f"end_{name}"] = np.array(values, dtype=np.float64)
            else:
                whole = all(isinstance(each, int) and abs(each) < WIDEST for each in values)
                ends[f"end_{name}"] = np.array(values, dtype=np.int64 if whole else object)
        return ends

    def _ends_by_place(self) -> dict[str, Column | Coded]:
        return {
            f"end_{axis.feature.name}": decode(
                axis, self.places[index], self.own[axis.feature.name]
            )
            for index, axis in enumerate(self.space.axes)
        }


def _listed_column(values: list[Value]) -> Coded:
    distinct = tuple(dict.fromkeys(each for each in values if each is not None))
    numbers = {value: number for number, value in enumerate(distinct)}
    places = [-1 if each is None else numbers[each] for each in values]
    return Coded(np.array(places, dtype=np.int64), distinct)


class Solver(Protocol):
    """Who answers for one person."""

    @property
    def by_class(self) -> bool:
        """Tell whether classes of people may be answered at once."""

    def plan(self, space: Space, state: Mapping[str, Value]) -> Plan:
        """Return the answer for a person."""


def plan_rows(
    space: Space,
    columns: Mapping[str, Column | Coded],
    *,
    details: bool,
    solver: Solver,
    tell: Tell = lambda _: None,
) -> Batch:
    """Return the answers for a table given as arrays by feature name; `tell` is called as their number grows."""
    size = len(next(iter(columns.values())))
    if space.theory.is_arithmetic:
        return _plan_each(space, columns, size, details=details, solver=solver, tell=tell)
    places = places_of(space, columns)
    by_class = space.is_small and solver.by_class
    near = neighbours(space, columns, places) if by_class else places
    batch = Batch(
        space,
        solver,
        columns,
        places,
        near,
        _lowest(places) <= ASTRAY,
        np.full(size, np.nan),
        {name: Words(size) for name in _texts_of(details=details)},
        tell=tell,
    )
    _note_unknown(batch, np.arange(size))
    alone = _lowest(near) <= ASTRAY if by_class else np.ones(size, dtype=bool)
    for entry, rows in _classes(space, batch, np.flatnonzero(~alone)):
        _answer_class(batch, entry, rows)
    for row in np.flatnonzero(alone):
        _answer_alone(batch, int(row))
    return batch


def _texts_of(*, details: bool) -> tuple[str, ...]:
    """Return the columns of texts."""
    rests = ("exceptions", "unknown", "proof", "message")
    return ("status", *(("actions", "steps") if details else ()), *rests)


def _plan_each(
    space: Space,
    columns: Mapping[str, Column | Coded],
    size: int,
    *,
    details: bool,
    solver: Solver,
    tell: Tell,
) -> Batch:
    """Return the answers for a table of a problem with arithmetic, row by row."""
    ends: dict[str, list[Value]] = {name: [None] * size for name in space.theory.feature}
    texts = {name: Words(size) for name in _texts_of(details=details)}
    cost = np.full(size, np.nan)
    batch = Batch(
        space, solver, columns, {}, {}, np.zeros(size, bool), cost, texts, tell=tell, ends=ends
    )
    for row in range(size):
        _answer_alone(batch, row)
    return batch


def _lowest(places: dict[int, Whole]) -> Whole:
    """Return the lowest place of each row, which tells whether a value has none."""
    found: Whole = np.minimum.reduce(list(places.values()))
    return found


def places_of(space: Space, columns: Mapping[str, Column | Coded]) -> dict[int, Whole]:
    """Return a table's values as places, by feature."""
    return {
        index: encode(axis, columns[axis.feature.name]) for index, axis in enumerate(space.axes)
    }


def _note_unknown(batch: Batch, rows: Whole) -> None:
    """Name the features whose values are not known and on which the answer rests."""
    space = batch.space
    absent = {name: batch.places[space.index[name]] == OFF for name in space.theory.consulted}
    some = {name: where for name, where in absent.items() if where.any()}
    if not some:
        return
    code = combined([(where.astype(np.int64), 2) for where in some.values()], rows)
    for group in grouped(code, rows):
        batch.words["unknown"][group] = listed([name for name in some if some[name][group[0]]])


def neighbours(
    space: Space, columns: Mapping[str, Column | Coded], places: dict[int, Whole]
) -> dict[int, Whole]:
    """Return the places, with a neighbour's for each value off the grid that has two of them in one region."""
    found = dict(places)
    for index, axis in enumerate(space.axes):
        rows = np.flatnonzero(places[index] == ASTRAY)
        if not len(rows) or places[index].dtype == object:
            continue
        own = columns[axis.feature.name]
        found[index] = places[index].copy()
        for row in rows:
            found[index][row] = _neighbour(axis, read_value(axis.feature, own[row]))
    return found


def _neighbour(axis: Axis, value: Value) -> int:
    assert isinstance(value, int | float), "only numbers have a grid"
    above = axis.feature.domain.first_place_from(exact(value))
    if 0 < above < axis.size and axis.region(above - 1) == axis.region(above):
        return above
    return ASTRAY


def _classes(space: Space, batch: Batch, rows: Whole) -> Iterator[tuple[Entry | None, Whole]]:
    """Yield the classes that rows fall into."""
    for group in by_regions(space, batch.near, class_routes(space).telling, rows):
        entry = class_routes(space).entry(_person(batch, int(group[0])))
        anchors = () if entry is None else entry.anchors
        if not anchors:
            yield entry, group
            continue
        off = np.logical_or.reduce([batch.places[index][group] == ASTRAY for index in anchors])
        if off.any():
            yield None, group[off]
        rest = group[~off]
        if len(rest):
            parts = [_ranked(batch.places[index][rest]) for index in anchors]
            for part in grouped(combined(parts, rest), rest):
                yield class_routes(space).entry(_person(batch, int(part[0]))), part


def by_regions(
    space: Space, near: Mapping[int, Whole], telling: Iterable[int], rows: Whole
) -> Iterator[Whole]:
    """Yield the rows whose values of some features lie in the same regions together."""
    if len(rows):
        axes = [(space.axes[index], near[index][rows]) for index in telling]
        parts = [(_regions_of(axis, places) + 1, _count_codes(axis)) for axis, places in axes]
        yield from grouped(combined(parts, rows), rows)


def combined(parts: Sequence[tuple[Whole, int]], rows: Whole) -> Whole:
    """Return one code for each combination of codes, given with the number that each stays below."""
    code, span = np.zeros(len(rows), dtype=np.int64), 1
    for each, count in parts:
        if span * count >= WIDEST:
            code, span = _ranked(code)
        code, span = code * count + each, span * count
    return code


def _ranked(code: Whole) -> tuple[Whole, int]:
    found, ranks = np.unique(code, return_inverse=True)
    return ranks, len(found)


def _count_codes(axis: Axis) -> int:
    """Return how many codes a telling feature has: one for each region, and one for a missing value."""
    return 1 + (axis.size if axis.feature.moves_from is not None else len(axis.regions))


def grouped(code: Whole, rows: Whole) -> Iterator[Whole]:
    """Yield the rows of each code together."""
    small = code.astype(np.int32) if int(code.max()) < 2**31 else code
    order = np.argsort(small, kind="stable")
    bounds = np.flatnonzero(np.diff(code[order])) + 1
    yield from np.split(rows[order], bounds)


def _regions_of(axis: Axis, places: Whole) -> Whole:
    """Return the region of each place; the place itself where moves tell all of them apart."""
    if axis.feature.moves_from is not None:
        return places
    if axis.ordered:
        starts = np.array([region[0] for region in axis.regions[1:]], dtype=np.int64)
        found = np.searchsorted(starts, places, side="right")
    else:
        found = np.array([axis.region(place) for place in range(axis.size)])[places]
    return np.where(places == OFF, OFF, found)


def _row(batch: Batch, row: int) -> dict[str, Any]:
    return {name: column[row] for name, column in batch.own.items()}


def _person(batch: Batch, row: int) -> Person:
    """Return the person of a row, or a neighbour on the grid who has the same routes."""
    return place_person(batch.space, state_at(batch.space, batch.near, row))


def state_at(space: Space, near: Mapping[int, Whole], row: int) -> State:
    """Return the values at the places of a row."""
    state: State = {}
    for index, axis in enumerate(space.axes):
        place = int(near[index][row])
        state[axis.feature.name] = None if place == OFF else axis.feature.domain.value(place)
    return state


def _answer_class(batch: Batch, entry: Entry | None, rows: Whole) -> None:
    if entry is None or entry.routes is None:
        for row in rows:
            _answer_alone(batch, int(row))
        return
    batch.tell(len(rows))
    try:
        refuse_if_strict(entry.transitions)
    except RowError as error:
        _mark_invalid(batch, rows, str(error))
        return
    if entry.exceptions:
        batch.words["exceptions"][rows] = listed(entry.exceptions)
    batch.words["proof"][rows] = "exhausted"
    if entry.already:
        batch.words["status"][rows] = "already"
        batch.cost[rows] = 0.0
    elif not entry.routes:
        batch.words["status"][rows] = "infeasible"
        batch.stuck.append(rows)
    else:
        batch.words["status"][rows] = "found"
        off = batch.astray[rows]
        if not off.all():
            _take_routes(batch, entry.routes, rows[~off])
        for row in rows[off]:
            _take_exactly(batch, entry.routes, int(row))


def _take_routes(batch: Batch, routes: tuple[Route, ...], rows: Whole) -> None:
    """Price every route for all rows, and let each row take its best."""
    space = batch.space
    if space.theory.minimize is Minimize.ACTIONS:
        fewest = min(route.direct for route in routes)
        routes = tuple(route for route in routes if route.direct == fewest)
    costs = np.stack([_price(batch, route, rows) for route in routes])
    least = costs.min(axis=0)
    chosen = costs.argmin(axis=0)
    for row in np.flatnonzero((costs <= least * (1 + 1e-9)).sum(axis=0) > 1):
        # As good as equal in floating point: decide it exactly.
        _, route = best_route(_person(batch, int(rows[row])), routes)
        chosen[row] = routes.index(route)
    for number, route in enumerate(routes):
        taking = rows[chosen == number]
        if len(taking):
            batch.cost[taking] = _exact_costs(batch, route, taking)
            _take(batch, route, taking)


def _take_exactly(batch: Batch, routes: tuple[Route, ...], row: int) -> None:
    """Let a row with a value off the grid take its best route, priced in fractions."""
    theory, prices = batch.space.theory, grid_measures(batch.space)[1]
    charged = {length for route in routes for length in route.lengths}
    ways = {length: _way(batch, row, *length) for length in charged}

    def cost(route: Route) -> Fraction:
        found = Fraction(_fixed(batch.space, route), prices.denominator)
        for index, end in route.lengths:
            if not prices.flat[index]:
                far = ways[index, end]
                weight = exact(batch.space.axes[index].feature.weight)
                found += weight * theory.norm.share(far / weight)
        return found

    def order(route: Route) -> Key:
        measures = cost(route), route.direct
        first = measures if theory.minimize is Minimize.COST else measures[::-1]
        way = Fraction(route.way, prices.per_way)
        if not theory.norm.tells_way:
            way += sum(ways[each] for each in route.lengths)
        return route.key(first, way)

    best = min(routes, key=order)
    least = cost(best)
    batch.cost[row] = theory.norm.root(least)
    _take(batch, best, np.array([row]))


def _way(batch: Batch, row: int, index: int, end: int) -> Fraction:
    """Return how far a change of a row's own value to a place goes, by weight and distance, exactly."""
    axis = batch.space.axes[index]
    feature = axis.feature
    place = int(batch.places[index][row])
    own = read_value(feature, batch.own[feature.name][row]) if place < 0 else None
    line, origin = grid_measures(batch.space)[0][index], axis.position(0)
    # Measured on the grid as the planner measures it, not by the floats that grid points are rounded to.
    position = line.position(place) * line.measure if own is None else feature.order(own) - origin
    length = abs(position - line.position(end) * line.measure)
    return exact(feature.weight) * length / feature.divisor


def _fixed(space: Space, route: Route) -> int:
    """Return the part of a route's cost that is the same for everyone, in whole numbers."""
    prices = grid_measures(space)[1]
    alike = route.direct - sum(not prices.flat[index] for index, _ in route.lengths)
    return (route.effort - prices.per_action * alike) // prices.per_cost


def _price(batch: Batch, route: Route, rows: Whole) -> Column:
    lines, prices = grid_measures(batch.space)
    total = np.full(len(rows), _fixed(batch.space, route) / prices.denominator)
    for index, end in route.lengths:
        line = lines[index]
        places = batch.places[index][rows]
        own = np.array(line.listed)[places] if line.listed else places * line.stride
        length: Column = np.abs(own - line.position(end)).astype(float)
        unit = prices.per_unit[index] / prices.denominator
        total += unit * batch.space.theory.norm.share(length)
    return total


EXACT = 1 << 53
"""The whole numbers below this are floats."""


def _exact_costs(batch: Batch, route: Route, rows: Whole) -> Column:
    """Return the cost of a route in each row: a quotient of integers, rounded once."""
    (lines, prices), norm = grid_measures(batch.space), batch.space.theory.norm
    fixed = _fixed(batch.space, route)
    most = fixed + sum(
        prices.per_unit[index] * norm.share(_farthest(batch.space, lines[index], index, end))
        for index, end in route.lengths
    )
    small = max(most, prices.denominator) < EXACT
    kind: Any = np.int64 if small else object
    total = np.full(len(rows), fixed, dtype=kind)
    for index, end in route.lengths:
        line, places = lines[index], batch.places[index][rows]
        listed = np.array(line.listed, dtype=kind)
        own = listed[places] if line.listed else places.astype(kind) * line.stride
        total = total + prices.per_unit[index] * norm.share(np.abs(own - line.position(end)))
    shares: Column = (total / prices.denominator).astype(np.float64)
    return np.sqrt(shares) if norm.power == 2 else shares ** (1 / norm.power)


def _farthest(space: Space, line: Line, index: int, end: int) -> int:
    """Return the maximum distance of a feature's places from one place."""
    ends = (0, space.axes[index].size - 1)
    return max(abs(line.position(place) - line.position(end)) for place in ends)


def _take(batch: Batch, route: Route, rows: Whole) -> None:
    for move in route.moves:
        batch.places[move.axis][rows] = move.end
    if "steps" not in batch.words:
        return
    known = batch._texts.get(id(route))
    if known is None:
        known = batch._texts[id(route)] = _route_texts(route)
    batch.words["actions"][rows], batch.words["steps"][rows] = known


def _route_texts(route: Route) -> tuple[str, str]:
    return step_texts(
        [[(told.move.direct, told.feature, told.end) for told in step] for step in route.steps]
    )


def _answer_alone(batch: Batch, row: int) -> None:
    space = batch.space
    batch.tell(1)
    try:
        state = read_row([axis.feature for axis in space.axes], _row(batch, row))
        plan = batch.solver.plan(space, state)
    except RowError as error:
        _mark_invalid(batch, np.array([row]), str(error))
        return
    cells = plan_cells(space.theory, plan)
    for name, words in batch.words.items():
        words[row] = cells[name]
    if batch.ends is not None:
        for name, values in batch.ends.items():
            values[row] = (plan.end or state)[name]
    if isinstance(plan, Infeasible):
        batch.stuck.append(np.array([row]))
    if plan.cost is None or plan.end is None:
        return
    batch.cost[row] = plan.cost
    if batch.ends is not None:
        return
    for index, axis in enumerate(space.axes):
        name = axis.feature.name
        if plan.end[name] != state[name]:
            place = axis.feature.place(plan.end[name])
            assert place is not None, "targets lie on the grid"
            batch.places[index][row] = place


def _mark_invalid(batch: Batch, rows: Whole, message: str) -> None:
    batch.words["status"][rows] = "invalid"
    batch.words["unknown"][rows] = ""
    batch.words["proof"][rows] = ""
    batch.words["message"][rows] = message
    for index in batch.places:
        batch.places[index][rows] = INVALID
