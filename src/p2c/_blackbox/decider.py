"""A model that decides, opened: how it is asked about states, what was read of it, and what stands in for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from p2c._blackbox.judge import Ruling
from p2c._blackbox.proxy import fit_proxy
from p2c._blackbox.trial_values import FINE_PARTS, choose_values, sample_values
from p2c._learn.model.read_model import ReadModel
from p2c._learn.model.reading import NotRead, Read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from p2c._blackbox.judge import Ask
    from p2c._blackbox.proxy import Proxy
    from p2c._blackbox.trial_values import TrialValues
    from p2c._learn.extract.logic import Extraction
    from p2c._learn.extract.source import Source
    from p2c._learn.model.asking import AskedModel
    from p2c._learn.model.encoded import EncodedModel
    from p2c._rules.theory import Classifier, Theory
    from p2c._spec.feature import Value

    Row = Mapping[str, Any] | pd.Series

WHOLE = 200
"""Up to how many values a feature is looked at closely at every value, be it in the data or not."""

FEW = 10
"""Up to how many states are put to a pipeline one by one, where it can be asked so."""
KEPT = 100_000
"""How many states are remembered with what the model said of them."""

KEPT_CHOICES = 16
"""Number of theories whose trial values are cached.

People who restrict their actions have theories of their own.
"""


@dataclass(frozen=True)
class StandingRules:
    """Rules in a model's place that define `accepted(X)`, and how far they agree with it, as a problem's `source` says it."""

    text: str = ""
    learned: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, found: Extraction, origin: Mapping[str, Any] | None = None) -> StandingRules:
        """Return rules that were extracted; `origin` is where they come from, where somebody says it."""
        return cls(standing_rules(found.program, found.goal), origin or found.source)


def standing_rules(program: str, goal: str) -> str:
    """Return rules in the place of a model as a definition of its decision.

    >>> print(standing_rules("label(X,'no') :- age(X,N), N<18.", "not label(X,'no')"), end="")
    accepted(X) :- not label(X,'no').
    label(X,'no') :- age(X,N), N<18.
    """
    return f"accepted(X) :- {goal.strip().removeprefix('?-').strip().rstrip('.')}.\n{program.rstrip()}\n"


@dataclass(frozen=True, eq=False)
class Decider:
    """A model brought together with rows of its table.

    `standing` are rules in the model's place, or what learns them when they are first asked for; `exact` tells that they are its
    own.
    """

    source: Source
    reading: Read | NotRead
    standing: StandingRules | Callable[[], StandingRules] = StandingRules()
    exact: bool = False
    budget: int = 2_000
    seed: int = 0

    @cached_property
    def judge(self) -> Classifier:
        """Return the model as it decides `accepted(X)`: read, or asked about one state after the other."""
        if isinstance(self.reading, Read):
            return ReadModel(self.reading.score, self.accepts)
        return AskedJudge(self)

    @cached_property
    def is_read(self) -> bool:
        """Tell whether the model was read and can be searched with, so that plans are proved against it."""
        return isinstance(self.reading, Read)

    def warm(self) -> None:
        """Prepare proofs against the model before the first question."""
        if isinstance(self.judge, ReadModel):
            self.judge.warm()

    @property
    def stand_in(self) -> str:
        """Return the rules in the model's place, as text."""
        return self._standing.text

    @property
    def learned(self) -> Mapping[str, Any] | None:
        """Return how far the rules in the model's place agree with it."""
        return self._standing.learned

    @cached_property
    def _standing(self) -> StandingRules:
        return self.standing() if callable(self.standing) else self.standing

    def accepts(self, state: Mapping[str, Value]) -> bool:
        """Ask the model itself about one state."""
        return self.asker({}, scored=False)([state])[0][0]

    def asker(self, row: Row, *, scored: bool = True) -> Ask:
        """Return what asks the model about states of one person, whose row keeps its own values where nothing changed.

        Where nobody wants to know how near they are, it is asked for its decision alone, which takes less.
        """
        model, view = self.source.model, self.source.view
        assert model is not None
        encoded = self.reading.encoded if isinstance(self.reading, Read) else None

        def asked(states: Sequence[Mapping[str, Value]]) -> tuple[EncodedModel | AskedModel, Any]:
            """Return whom to ask about states, and the states as it takes them."""
            cells = view.cells(row, states)
            if encoded is not None and len(states) <= FEW:
                return encoded, list(zip(*cells, strict=True))
            return model, view.frame(cells)

        def decide(states: Sequence[Mapping[str, Value]]) -> list[Ruling]:
            whom, rows = asked(states)
            return [Ruling(each, None) for each in whom.accepts(rows).tolist()]

        def ask(states: Sequence[Mapping[str, Value]]) -> list[Ruling]:
            whom, rows = asked(states)
            answers = whom.answer(rows)
            scores = answers.scores
            if scores is None and self.proxy is not None:
                scores = self.proxy.scores(view.table(rows))
            margins = [None] * len(states) if scores is None else scores.tolist()
            told = [None] * len(states) if answers.told is None else answers.told.tolist()
            rulings = zip(answers.accepted.tolist(), margins, told, strict=True)
            return [
                Ruling(yes, margin, each and (each[0], each[1])) for yes, margin, each in rulings
            ]

        return ask if scored else decide

    @property
    def scored(self) -> bool:
        """Tell whether the model tells how near a state is to being accepted."""
        return self.source.model is not None and self.source.model.scored

    @cached_property
    def proxy(self) -> Proxy | None:
        """Return a guess of the scores of a model that keeps them to itself; None where there is no need of one."""
        if self.source.model is None or self.scored or self.exact or self.is_read:
            return None
        return fit_proxy(self.source.table, self.source.accepted, seed=self.seed)

    def row(self, row: Any) -> dict[str, Any]:
        """Return one person's row by feature, whether it goes by features or by columns of the table."""
        return self.source.view.row(self.source.view.named(row))

    def trial_values(self, theory: Theory) -> tuple[TrialValues, TrialValues]:
        """Return the values of each feature that are put to the model first, and those where it is asked closely."""
        chosen = self._chosen.get(id(theory))
        if chosen is None:
            few, fine = self._samples
            values = choose_values(theory, few), choose_values(theory, fine, whole=WHOLE)
            if len(self._chosen) >= KEPT_CHOICES:
                self._chosen.clear()
            chosen = self._chosen[id(theory)] = theory, values
        return chosen[1]

    @cached_property
    def _chosen(self) -> dict[int, tuple[Theory, tuple[TrialValues, TrialValues]]]:
        """Return the trial values of each theory by its identity.

        The theories are kept so that no other one gets the identity of one.
        """
        return {}

    @cached_property
    def _samples(self) -> tuple[dict[str, tuple[Value, ...]], dict[str, tuple[Value, ...]]]:
        table = self.source.table
        return sample_values(table), sample_values(table, parts=FINE_PARTS)


@dataclass(frozen=True, eq=False)
class AskedJudge:
    """A model that is only asked: it decides states one by one, and cuts no feature into cells."""

    decider: Decider
    _known: dict[tuple[Value, ...], bool] = field(default_factory=dict)

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """Return the features that the model may read."""
        source = self.decider.source
        return source.reads or tuple(each.feature for each in source.view.features)

    def accepts(self, state: Mapping[str, Value]) -> bool:
        """Tell whether the model gives the desired class to a state; what it said lately is not asked again."""
        key = tuple(state.values())
        if key not in self._known:
            if len(self._known) >= KEPT:
                self._known.clear()
            self._known[key] = self.decider.accepts(state)
        return self._known[key]

    @property
    def opaque(self) -> str:
        """Return why the model was not parsed."""
        return str(self.decider.reading)
