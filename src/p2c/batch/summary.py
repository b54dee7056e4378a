"""What is known of finished parts, and of the whole batch: how many of each status, what blocks, how the costs lie."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from p2c.plan.blockers import find_blockers
from p2c.plan.search.best_first import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from p2c.batch.answers import Answers
    from p2c.batch.source import Part
    from p2c.domain.row import State
    from p2c.domain.spec import SourceSpec
    from p2c.engines.policy import Policy
    from p2c.problem import Problem

CLASSES = 200
"""How many classes of people without a way a record names; the rest it counts."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SECONDS = 20.0
"""How long is spent on asking what blocks; the largest classes are asked first."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """A class of people without a way: one of them, and how many there are."""

    name: str
    state: State
    count: int


@dataclass(frozen=True, slots=True)
class Record:
    """A finished part."""

    number: int
    rows: int
    size: int
    sha256: str
    pieces: tuple[tuple[str, int, int], ...]
    """Which stretches of which input files the part answers."""
    statuses: dict[str, int]
    costs: dict[float, int]
    exceptions: int
    unknown: int
    stuck: tuple[Stuck, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON."""
        return {
            "number": self.number,
            "rows": self.rows,
            "bytes": self.size,
            "sha256": self.sha256,
            "pieces": [list(each) for each in self.pieces],
            "statuses": dict(sorted(self.statuses.items())),
            "costs": [[cost, count] for cost, count in sorted(self.costs.items())],
            "exceptions": self.exceptions,
            "unknown": self.unknown,
            "stuck": [[each.name, each.state, each.count] for each in self.stuck],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Record:
        """Return the record that JSON holds."""
        return cls(
            data["number"],
            data["rows"],
            data["bytes"],
            data["sha256"],
            tuple((name, begin, end) for name, begin, end in data["pieces"]),
            data["statuses"],
            {float(cost): count for cost, count in data["costs"]},
            data["exceptions"],
            data["unknown"],
            tuple(Stuck(*each) for each in data["stuck"]),
        )


@dataclass(slots=True)
class Tally:
    """The counts of a part, added up table by table."""

    rows: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    costs: Counter[float] = field(default_factory=Counter)
    exceptions: int = 0
    unknown: int = 0
    stuck: dict[str, Stuck] = field(default_factory=dict)

    def add(self, answers: Answers) -> None:
        """Add the answers for one table."""
        self.rows += len(answers.who)
        self.statuses.update(answers.statuses)
        self.costs.update(answers.costs)
        self.exceptions += answers.exceptions
        self.unknown += answers.unknown
        for name, state, count in answers.stuck:
            known = self.stuck.get(name)
            before = known.count if known else 0
            self.stuck[name] = Stuck(name, known.state if known else state, before + count)

    def record(self, part: Part, size: int, sha256: str) -> Record:
        """Return the record of the part, the largest classes first."""
        largest = sorted(self.stuck.values(), key=lambda each: (-each.count, each.name))
        return Record(
            part.number,
            self.rows,
            size,
            sha256,
            tuple(piece.place for piece in part.pieces),
            dict(self.statuses),
            dict(self.costs),
            self.exceptions,
            self.unknown,
            tuple(largest[:CLASSES]),
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """What a batch found."""

    rows: int
    statuses: dict[str, int]
    blockers: dict[str, int]
    """How many people without a way are blocked by what; `not asked` are the rest."""
    costs: dict[float, int]
    """How many people have which cost above 0, to three digits."""
    exceptions: int = 0
    """How many people break a causal rule or a constraint today, and are planned for as exceptions."""
    unknown: int = 0
    """How many people have a value that is not known and that the rules read; their answers rest on it."""
    source: SourceSpec | None = None
    """Where the rules come from, if they were learned; then every answer rests on them."""
    spare: tuple[str, ...] = ()
    parts: int = 0
    made: int = 0
    """How many parts this run made; the others were there."""

    @property
    def quantiles(self) -> dict[str, float]:
        """Return costs that a share of the people with a plan do not exceed, to three digits."""
        total = sum(self.costs.values())
        if not total:
            return {}
        found: dict[str, float] = {}
        below = 0
        waiting = list(QUANTILES)
        for cost, count in sorted(self.costs.items()):
            below += count
            while waiting and below >= waiting[0] * total:
                found[f"{waiting.pop(0):.0%}"] = cost
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return what does not depend on how often the batch was begun."""
        source = {"source": self.source.to_dict()} if self.source else {}
        return {
            "rows": self.rows,
            "statuses": self.statuses,
            "blockers": self.blockers,
            "exceptions": self.exceptions,
            "unknown": self.unknown,
            **source,
            "cost_quantiles": self.quantiles,
            "costs": [[cost, count] for cost, count in sorted(self.costs.items())],
            "columns_left_aside": list(self.spare),
        }


def summarise(
    problem: Problem,
    records: Sequence[Record],
    policy: Policy,
    *,
    spare: Sequence[str] = (),
    made: int = 0,
    ask: bool = True,
) -> Summary:
    """Return the summary of all parts; what blocks a class is asked for one of its people."""
    statuses: Counter[str] = Counter()
    costs: Counter[float] = Counter()
    for record in records:
        statuses.update(record.statuses)
        costs.update(record.costs)
    classes = _merged(each for record in records for each in record.stuck) if ask else []
    blockers = _blockers(problem, classes, policy)
    rest = statuses["infeasible"] - sum(blockers.values())
    if rest:
        blockers["not asked"] = rest
    rows = sum(record.rows for record in records)
    known = {key: count for key, count in sorted(statuses.items()) if count}
    return Summary(
        rows,
        known,
        dict(blockers),
        dict(sorted(costs.items())),
        exceptions=sum(record.exceptions for record in records),
        unknown=sum(record.unknown for record in records),
        source=problem.theory.source,
        spare=tuple(spare),
        parts=len(records),
        made=made,
    )


def _merged(found: Iterable[Stuck]) -> list[Stuck]:
    """Return the classes of all parts, the largest first."""
    classes: dict[str, Stuck] = {}
    for each in found:
        known = classes.get(each.name)
        count = each.count + (known.count if known else 0)
        classes[each.name] = Stuck(each.name, known.state if known else each.state, count)
    return sorted(classes.values(), key=lambda each: (-each.count, each.name))


def _blockers(problem: Problem, classes: Sequence[Stuck], policy: Policy) -> Counter[str]:
    """Return what blocks how many; what takes longer than one person may take, or all together, is left open."""
    counts: Counter[str] = Counter()
    whole = Limits.within(SECONDS)
    for each in classes:
        limits = policy.limits
        if limits.left is None or (whole.left or 0.0) < limits.left:
            limits = Limits(deadline=whole.deadline)
        blockers, _, known = find_blockers(problem.compiled, each.state, limits)
        if not known and whole.left == 0.0:
            break
        words = [f"{blocker.feature} {blocker.restriction}" for blocker in blockers]
        rest = "the rules themselves" if known else "not found out in time"
        counts[" + ".join(words) or rest] += each.count
    return Counter(dict(counts.most_common()))
