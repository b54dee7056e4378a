"""Summaries of parts and of a batch: statuses, blockers and costs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from p2c._plan.blockers import find_blockers
from p2c._plan.search.best_first import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c._engines.policy import Policy
    from p2c._spec.row import State
    from p2c._spec.spec import SourceSpec
    from p2c.problem import Problem

CLASSES = 200
"""How many classes of people without a way a record names; the rest it counts."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SECONDS = 20.0
"""Seconds for all blockers; the largest classes come first."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """A class of infeasible people: its name, one person, and its size."""

    name: str
    state: State
    count: int


@dataclass(slots=True)
class Counts:
    """Numbers of rows by status, cost, evidence, and class of infeasible people."""

    rows: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    costs: Counter[float] = field(default_factory=Counter)
    exceptions: int = 0
    """How many rows break a law or a constraint at the start."""
    unknown: int = 0
    """How many have a value that is not known and that the rules read."""
    stuck: dict[str, Stuck] = field(default_factory=dict)

    def add(self, other: Counts) -> None:
        """Add the counts of other rows."""
        self.rows += other.rows
        self.statuses.update(other.statuses)
        self.costs.update(other.costs)
        self.exceptions += other.exceptions
        self.unknown += other.unknown
        for each in other.stuck.values():
            self.add_stuck(each)

    def add_stuck(self, stuck: Stuck) -> None:
        """Add people without a way, of whom one of each class is kept."""
        known = self.stuck.get(stuck.name)
        more = stuck if known is None else replace(known, count=known.count + stuck.count)
        self.stuck[stuck.name] = more

    @property
    def classes(self) -> list[Stuck]:
        """Return the classes of people without a way, the largest first."""
        return sorted(self.stuck.values(), key=lambda each: (-each.count, each.name))

    def keep_largest(self) -> None:
        """Forget all but the largest classes of people without a way."""
        self.stuck = {each.name: each for each in self.classes[:CLASSES]}

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON."""
        return {
            "rows": self.rows,
            "statuses": dict(sorted(self.statuses.items())),
            "costs": [[cost, count] for cost, count in sorted(self.costs.items())],
            "exceptions": self.exceptions,
            "unknown": self.unknown,
            "stuck": [[each.name, each.state, each.count] for each in self.classes],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Counts:
        """Return the counts that JSON holds."""
        return cls(
            data["rows"],
            Counter(data["statuses"]),
            Counter({float(cost): count for cost, count in data["costs"]}),
            data["exceptions"],
            data["unknown"],
            {name: Stuck(name, state, count) for name, state, count in data["stuck"]},
        )


@dataclass(frozen=True, slots=True)
class Record:
    """A finished part: its file, its stretches of the input, and its counts."""

    number: int
    size: int
    sha256: str
    pieces: tuple[tuple[str, int, int], ...]
    counts: Counts

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON."""
        pieces = [list(each) for each in self.pieces]
        file = {"bytes": self.size, "sha256": self.sha256, "pieces": pieces}
        return {"number": self.number, **file, **self.counts.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Record:
        """Return the record that JSON holds."""
        pieces = tuple((name, begin, end) for name, begin, end in data["pieces"])
        return cls(data["number"], data["bytes"], data["sha256"], pieces, Counts.from_dict(data))


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of a batch."""

    rows: int
    statuses: dict[str, int]
    blockers: dict[str, int]
    """Numbers of infeasible people by blockers; the rest is `not asked`."""
    costs: dict[float, int]
    """How many people have which cost above 0, to three digits."""
    exceptions: int = 0
    """Number of people with an exception to a causal rule or a constraint."""
    unknown: int = 0
    """Number of people with a missing value that the rules read."""
    source: SourceSpec | None = None
    """The source of learned rules; each answer rests on them."""
    proved: bool | None = None
    """Whether plans are proved against the model or only verified by it."""
    spare: tuple[str, ...] = ()
    parts: int = 0
    made: int = 0
    """How many parts this run made; the others were there."""

    @property
    def quantiles(self) -> dict[str, float]:
        """Return quantiles of the costs of plans to three digits."""
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
        """Return the figures that do not depend on the number of runs."""
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
    """Return the summary of all parts; one person of a class gives its blockers."""
    whole = Counts()
    for record in records:
        whole.add(record.counts)
    blockers = _blockers(problem, whole.classes if ask else [], policy)
    rest = whole.statuses["infeasible"] - sum(blockers.values())
    if rest:
        blockers["not asked"] = rest
    return Summary(
        whole.rows,
        {key: count for key, count in sorted(whole.statuses.items()) if count},
        dict(blockers),
        dict(sorted(whole.costs.items())),
        exceptions=whole.exceptions,
        unknown=whole.unknown,
        source=problem.theory.source,
        proved=None if problem.decider is None else problem.decider.is_read,
        spare=tuple(spare),
        parts=len(records),
        made=made,
    )


def _blockers(problem: Problem, classes: Sequence[Stuck], policy: Policy) -> Counter[str]:
    """Count infeasible people by blockers; blockers beyond the time limit stay open."""
    counts: Counter[str] = Counter()
    whole = Limits.within(SECONDS)
    # A model that is only asked proves nothing but by rules of its own.
    asked = problem.decider is not None and not problem.decider.is_read
    proving = problem.surrogate if asked and problem.surrogate else problem
    for each in classes:
        limits = policy.limits
        if limits.left is None or (whole.left or 0.0) < limits.left:
            limits = Limits(deadline=whole.deadline)
        blockers, _, known = find_blockers(proving.compiled, each.state, limits)
        if not known and whole.left == 0.0:
            break
        words = [f"{blocker.feature} {blocker.restriction}" for blocker in blockers]
        rest = "the rules themselves" if known else "not found out in time"
        counts[" + ".join(words) or rest] += each.count
    return Counter(dict(counts.most_common()))
