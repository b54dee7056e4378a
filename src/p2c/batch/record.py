"""What is known of a finished part: how many rows, with what status and cost, who is stuck, and the file's hash."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from p2c.batch.answers import Answers
    from p2c.batch.parts import Part
    from p2c.domain.row import State

CLASSES = 200
"""How many classes of people without a way a record names; the rest it counts."""


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
