"""Principal reasons for a letter: at most four features that the decision reads, each checked against the decision itself.

Of somebody with a way they are what the cheapest plan changes; of somebody without one, the fewest values that force the
refusal whatever the others are, and others that force it as well. What is protected is never given as a reason, and is held as it is. A reason stands only if the
decision, asked about the person with that one value mended, turns, or comes nearer, or if without it the refusal would not
stand.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from p2c._audit.people import as_read, fired_rules
from p2c._blackbox.forcing import forced_without, forcing
from p2c._explain.letter import teller_in
from p2c._explain.model_reasons import Reasons
from p2c._explain.sentences import filled
from p2c._plan.search.best_first import Limits
from p2c._rules.evaluate import goal_holds
from p2c._spec.files import read_sheet
from p2c._spec.spec import path_of
from p2c.errors import P2CError, suggestion, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from p2c._explain.teller import Teller
    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import Plan
    from p2c._spec.feature import Value

MOST = 4
"""How many reasons are given; more are of no help to anybody (Regulation B, official interpretation)."""
DIRECTIONS = ("low", "high", "")
NAMES = ("feature", "direction", "code", "text")
FLIPS, MOVES, NEEDED = "flips", "moves", "needed"


@dataclass(frozen=True, slots=True)
class Reason:
    """A feature that speaks against somebody: the value that they have, one that would speak less, and what checking showed.

    `check` is `flips` where that one value alone turns the decision, `moves` where it brings it nearer (a higher score, or
    fewer rules that refuse), and `needed` where the refusal does not stand without it.
    """

    feature: str
    own: Value
    mended: Value
    direction: str
    check: str
    code: str = ""
    text: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the reason as JSON."""
        left_out = () if self.code else ("code", "text")
        return {key: each for key, each in asdict(self).items() if key not in left_out}


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A lender's codes by feature and direction, and the protected features.

    `texts` holds the words by language, in the order of the entries, where the file has columns such as `text_de`.
    """

    entries: tuple[tuple[str, str, str, str], ...] = ()
    protected: tuple[str, ...] = ()
    texts: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def in_language(self, language: str) -> Catalogue:
        """Return the catalogue with its words of a language.

        Raises:
            P2CError: The file has words by language, and a code has none in this one.
        """
        if not self.texts:
            return self
        texts = dict(self.texts).get(language, ("",) * len(self.entries))
        for entry, text in zip(self.entries, texts, strict=True):
            if not text:
                raise P2CError(f"reasons: no text in '{language}' for the code '{entry[2]}'")
        entries = ((*entry[:3], text) for entry, text in zip(self.entries, texts, strict=True))
        return replace(self, entries=tuple(entries))

    def worded(self, reason: Reason) -> Reason:
        """Return a reason with its code; one for its direction comes before one for any."""
        for direction in (reason.direction, ""):
            for feature, way, code, text in self.entries:
                if (feature, way) == (reason.feature, direction):
                    return replace(reason, code=code, text=text)
        return reason

    def refuse_gaps(self, space: Space) -> None:
        """Raise where something that the decision reads has no code, or something named here is no feature."""
        known = space.theory.feature
        for name in (*(entry[0] for entry in self.entries), *self.protected):
            if name not in known:
                raise P2CError(f"reasons: no feature '{name}'; {suggestion(name, known)}")
        if not self.entries:
            return
        for name in sorted(space.theory.reads(space.theory.goal) - set(self.protected)):
            ways = {way for feature, way, _, _ in self.entries if feature == name}
            wanted = ("low", "high") if known[name].has_order else ("",)
            absent = [way for way in wanted if not {way, ""} & ways]
            if absent:
                said = f" ({absent[0]})" if absent[0] else ""
                raise P2CError(f"reasons: the catalogue has no code for '{name}'{said}")


def read_catalogue(path: Path, protected: Sequence[str] = ()) -> Catalogue:
    """Read a lender's codes.

    The file is CSV with the columns feature, direction (low, high or blank for any), code, and either text or one column for
    each language, such as text_en and text_de.
    """
    sheet = read_sheet(path)
    spoken = [name for name in sheet.names if name.startswith("text_")]
    for name in NAMES[:-1] if spoken else NAMES:
        if name not in sheet.names:
            raise P2CError(f"{path}: no column '{name}'; expected {', '.join(NAMES)}")
    entries = []
    texts: dict[str, list[str]] = {name.removeprefix("text_"): [] for name in spoken}
    for row in sheet.rows:
        cells = dict(zip(sheet.names, (cell.strip() for cell in row.cells), strict=True))
        if cells["direction"] not in DIRECTIONS:
            found = cells["direction"]
            raise P2CError(f"{path}: direction: expected low, high or nothing, found '{found}'")
        for language, said in texts.items():
            said.append(cells[f"text_{language}"])
        text = cells.get("text", "")
        entries.append((cells["feature"], cells["direction"], cells["code"], text))
    by_language = tuple((language, tuple(said)) for language, said in texts.items())
    return Catalogue(tuple(entries), tuple(protected), by_language)


def catalogue_of(codes: str | Path | Catalogue | None, protected: Sequence[str]) -> Catalogue:
    """Return a catalogue that may be given as such, as its file, or not at all."""
    if isinstance(codes, Catalogue):
        return codes
    names = words_of(protected, "protected: expected names of features")
    return Catalogue(protected=names) if codes is None else read_catalogue(path_of(codes), names)


def reasons_against(
    space: Space, plan: Plan, catalogue: Catalogue, *, time_limit: float | None = None
) -> tuple[Reason, ...]:
    """Return at most four principal reasons against whom a plan is about; none where there is nothing to do."""
    catalogue.refuse_gaps(space)
    if plan.status == "already":
        return ()
    state, limits = plan.question.initial, Limits.within(time_limit)
    principal = principal_reasons(space, state, plan.end, catalogue, limits)
    teller = teller_in(space.theory, "en")
    lead = teller.phrases.audit["reasons"]
    return Reasons(principal, (lead, *(reason_words(each, teller) for each in principal)))


def reasons_told(space: Space, plan: Plan, catalogue: Catalogue, language: str) -> tuple[str, ...]:
    """Return the principal reasons as a letter says them."""
    teller = teller_in(space.theory, language)
    reasons = reasons_against(space, plan, catalogue.in_language(language))
    return tuple(reason_words(each, teller) for each in reasons)


def principal_reasons(
    space: Space,
    state: Mapping[str, Value],
    end: Mapping[str, Value] | None,
    catalogue: Catalogue | None = None,
    limits: Limits | None = None,
) -> tuple[Reason, ...]:
    """Return at most four checked reasons against a person: `end` is where their cheapest plan leads, None without one."""
    catalogue = catalogue or Catalogue()
    weigh = _Scales(space, state)
    reads = space.theory.reads(space.theory.goal)
    if end is not None:
        mended = {name: end[name] for name in reads if end[name] != state[name]}
    else:
        mended = dict(_unforced(space, state, catalogue.protected, limits or Limits()))
    found = [
        (weigh.gain(name, value), name, value)
        for name, value in mended.items()
        if name not in catalogue.protected
    ]
    order = list(space.index)
    reasons = []
    for gain, name, value in sorted(found, key=lambda each: (-each[0], order.index(each[1]))):
        check = weigh.check(name, value, gain, end)
        if check:
            way = _direction(space, name, state[name], value)
            reasons.append(catalogue.worded(Reason(name, state[name], value, way, check)))
    reasons.sort(key=lambda each: (FLIPS, MOVES, NEEDED).index(each.check))
    return tuple(reasons[:MOST])


def _unforced(
    space: Space, state: Mapping[str, Value], protected: Sequence[str], limits: Limits
) -> Iterator[tuple[str, Value]]:
    """Yield the fewest features that force the refusal beside what is protected, each with a value that would not.

    Where others force it as well by themselves, they follow.
    """
    told: list[str] = []
    while len(told) < MOST:
        found = forcing(space.theory, state, limits, always=protected, never=told)
        if found is None or not found.names:
            return
        held = found.names
        for name in held:
            rest = [each for each in (*held, *protected) if each != name]
            end = forced_without(space.theory, state, rest, limits)
            if end is not None:
                yield name, end[name]
        told += held


@dataclass(frozen=True, slots=True)
class _Scales:
    """How near a yes a state is: the score of a model that was read, else how few rules refuse."""

    space: Space
    state: Mapping[str, Value]

    def gain(self, name: str, value: Value) -> float:
        """Return how much nearer a yes one mended value brings the person; infinitely, where it is one."""
        mended = {**self.state, name: value}
        if goal_holds(self.space.theory, mended):
            return float("inf")
        return self._weight(mended) - self._weight(self.state)

    def check(self, name: str, value: Value, gain: float, end: Mapping[str, Value] | None) -> str:
        """Return what a mended value does, nothing where it does nothing."""
        if gain > 0:
            return FLIPS if gain == float("inf") else MOVES
        if end is None:
            return NEEDED
        undone = {**end, name: self.state[name]}
        return "" if goal_holds(self.space.theory, undone) else NEEDED

    def _weight(self, state: Mapping[str, Value]) -> float:
        model = as_read(self.space.theory.model)
        if model is not None:
            told = model.score_of(state)
            return 0.0 if told is None else told[0] - told[1]
        fired = fired_rules(self.space, state)
        return -float((fired & self.space.denied).bit_count())


def _direction(space: Space, name: str, own: Value, mended: Value) -> str:
    feature = space.theory.feature[name]
    if own is None or mended is None or not feature.has_order:
        return ""
    return "low" if feature.order(mended) > feature.order(own) else "high"


def reason_words(reason: Reason, teller: Teller) -> str:
    """Return a reason as a letter says it: in the lender's words, else in the feature's."""
    if reason.text:
        return f"{reason.code}: {reason.text}"
    key = "unknown" if reason.own is None else reason.direction or "other"
    label, value = teller.label(reason.feature), teller.value(reason.feature, reason.own)
    said = teller.sentence(filled(teller.phrases.audit[f"reason_{key}"], label=label, value=value))
    return f"{reason.code}: {said}" if reason.code else said
