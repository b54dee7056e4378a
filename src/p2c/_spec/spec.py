"""A problem as it is written down: the keys of a TOML file or dict, typed and checked, every fault at once."""

from __future__ import annotations

import json
import stat
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    StrictBool,
    StrictStr,
    ValidationError,
)

from p2c._spec.cost import Norm
from p2c._spec.feature import Action, Kind, Law
from p2c._spec.keys import (  # noqa: TC001 - pydantic needs them at run time
    Count,
    Label,
    MoveStart,
    Objectives,
    Positive,
    Reason,
    Scale,
    Share,
    SpecNumber,
    SpecValue,
    Weight,
    Whole,
)
from p2c._spec.misread import misread
from p2c._spec.toml import placed_key, placed_text
from p2c.errors import Fault, P2CError, ProblemError, shown, suggestion, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_core import ErrorDetails


STANDARD_INPUT = Path("-")
"""The name by which a file is read from standard input."""


class Exceptions(Enum):
    """What is done when the person breaks a causal rule at the start."""

    ABDUCE = "abduce"
    STRICT = "strict"


class Effects(Enum):
    """When causal actions happen: only where a feature is violated, or wherever a rule supports them."""

    TRIGGERED = "triggered"
    SUPPORTED = "supported"


class Minimize(Enum):
    """What comes first: the cost, or the number of direct actions (the paper's DPL)."""

    COST = "cost"
    ACTIONS = "actions"


class Residual(Enum):
    """Treatment of the difference between a row and an equation."""

    ADD = "add"
    NONE = "none"


class Teacher(Enum):
    """What rules were learned from: the answers of a model, or the labels of a table."""

    MODEL = "model"
    LABELS = "labels"


class Table(BaseModel):
    """A table of keys, with none that is not listed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceSpec(Table):
    """Where learned rules come from: the keys of `source`.

    `fidelity` is the share of the `rows` on which the rules agree with the model or the labels, `name` what these are
    called.
    """

    origin: Teacher = Field(
        alias="from",
        description="Whether rules were learned from the answers of a model or from the labels of a table.",
    )
    fidelity: Share | None = Field(
        None, description="The share of the rows on which rules and teacher agree."
    )
    rows: Count | None = Field(None, description="On how many rows that was measured.")
    name: StrictStr = Field("", description="What the model or table is called.")

    def to_dict(self) -> dict[str, Any]:
        """Return the keys that were given, as a problem has them."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)


class ModelSpec(Table):
    """A model in the place of decision rules: the keys of `[model]`.

    `file` is relative to the problem's file, `desired` the class that is wanted, from the probability `threshold` on where
    there is one. `columns` names the model's column of a feature, where the two differ. `groups` names the one-hot columns
    that are one feature.
    """

    file: StrictStr = Field(description="The stored model, relative to the problem's file.")
    desired: Label | None = Field(None, description="The class that is wanted.")
    threshold: Share | None = Field(
        None, description="The probability from which on it is given; else as the model predicts."
    )
    columns: dict[StrictStr, StrictStr] = Field(
        default_factory=dict, description="The model's column of a feature, where names differ."
    )
    groups: dict[StrictStr, list[StrictStr]] = Field(
        default_factory=dict,
        description="The one-hot columns of the model that are one category, by the name of the feature.",
    )


@dataclass(frozen=True, slots=True)
class Trust:
    """What a caller vouches for when a model is opened: that a pickle may be, and types in a skops file by their names."""

    pickle: bool = False
    types: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Trust | str | Iterable[str] | None) -> Trust:
        """Return what a word or some words vouch for: `pickle`, or the name of a type; nothing, where nothing is said.

        >>> Trust.of("pickle").pickle
        True
        >>> Trust.of(["pickle", "sklearn.neighbors._kd_tree.KDTree"]).types
        ('sklearn.neighbors._kd_tree.KDTree',)
        """
        if isinstance(given, Trust):
            return given
        expected = "trust: expected 'pickle' or names of types"
        words = words_of(() if given is None else given, expected)
        if "" in words:
            raise P2CError(f"{expected}, found ''")
        return cls("pickle" in words, tuple(each for each in words if each != "pickle"))


LabelText = Annotated[StrictStr, Field(description="Its name in running text.")]
UnitText = Annotated[StrictStr, Field(description="What follows a number.")]
UnitOfOne = Annotated[
    StrictStr, Field(description="What follows the number 1, where p2c does not know it.")
]
PhraseText = Annotated[
    StrictStr,
    Field(description="A clause that says that it has a value, with {value} and {label}."),
]
AdviceText = Annotated[
    StrictStr, Field(description="What to do about it, with {start}, {end} and {label}.")
]
ValueNames = Annotated[dict[StrictStr, StrictStr], Field(description="Words for single values.")]


class WordsSpec(Table):
    """What a feature is called in one more language: the keys of `[features.….languages.de]`."""

    label: LabelText = ""
    unit: UnitText = ""
    unit_one: UnitOfOne = ""
    phrase: PhraseText = ""
    advice: AdviceText = ""
    names: ValueNames = Field(default_factory=dict)


class UseSpec(Table):
    """The amount of a resource that an action uses."""

    fixed: Weight = Field(0, description="The amount of each action.")
    per_unit: Weight = Field(
        0, description="The amount per unit of the change of a number, or per rank of an ordinal."
    )


class LabelSpec(Table):
    """The words for a resource or a named action in one more language."""

    label: LabelText = ""


Uses = Annotated[
    dict[StrictStr, UseSpec], Field(description="The amounts of resources that it uses, by name.")
]
Labels = Annotated[
    dict[StrictStr, LabelSpec],
    Field(description="Its label in other languages, such as languages.de."),
]


class ResourceSpec(Table):
    """The keys of one `[resources.…]` table."""

    label: LabelText = ""
    limit: Weight | None = Field(None, description="The most that a plan may use.")
    weight: Weight = Field(0, description="The cost of one unit; needs the norm l0 or l1.")
    languages: Labels = Field(default_factory=dict)


class ActionSpec(Table):
    """The keys of one `[actions.…]` table, a direct action with a name."""

    label: LabelText = ""
    sets: dict[StrictStr, SpecValue] = Field(
        default_factory=dict, description="The values that features take."
    )
    adds: dict[StrictStr, SpecNumber] = Field(
        default_factory=dict, description="The amounts by which numbers change."
    )
    when: StrictStr = Field("", description="The body of a rule that must hold before it.")
    cost: Weight = Field(0, description="The cost of taking it once.")
    uses: Uses = Field(default_factory=dict)
    repeat: Count = Field(1, description="How often a plan may take it.")
    languages: Labels = Field(default_factory=dict)


class FeatureSpec(Table):
    """The keys of one `[features.…]` table."""

    type: Kind = Field(description="What its values are.")
    values: list[SpecValue] | None = Field(
        None,
        description="The values of a category, or of an ordinal from least to most; for a number, the only targets.",
    )
    min: SpecNumber | None = Field(None, description="The least value.")
    max: SpecNumber | None = Field(None, description="The greatest value.")
    step: Positive | None = Field(
        None,
        description="The grid of targets from min on: 1 for an int, a millionth or so of the range for a float.",
    )
    action: Action | None = Field(
        None,
        description="Who may change it. Default: effect for the head of a causal rule, else free.",
    )
    weight: Weight = Field(1, description="What its effort is multiplied with; 0 or more.")
    scale: Scale = Field(
        "range",
        description="What a difference is divided by: range, or a positive number such as a standard deviation.",
    )
    law: Law | None = Field(
        None, description="The law of its own causal rules, instead of the problem's."
    )
    equation: StrictStr | None = Field(
        None,
        description="The function of other features that it always is, such as debt / income; nobody sets it then.",
    )
    residual: Residual | None = Field(
        None,
        description="Of a feature with an equation: whether the difference between row and equation is kept (add, the default) or there is none (none).",
    )
    kept: StrictBool = Field(
        False,
        description="A column of the model that is no feature otherwise: it keeps the row's value, whatever that is.",
    )
    moves: dict[MoveStart, list[SpecValue]] | None = Field(
        None, description="The only changes of value that exist, as {from = [to, …]}."
    )
    uses: Uses = Field(default_factory=dict)
    label: LabelText = ""
    unit: UnitText = ""
    unit_one: UnitOfOne = ""
    phrase: PhraseText = ""
    advice: AdviceText = ""
    names: ValueNames = Field(default_factory=dict)
    languages: dict[StrictStr, WordsSpec] = Field(
        default_factory=dict, description="The same words in other languages, such as languages.de."
    )


class LintSpec(Table):
    """The keys of `[lint]`: findings that are known, by kind and what each is about, with the reason."""

    accept: dict[StrictStr, dict[StrictStr, Reason]] = Field(
        default_factory=dict,
        description="Findings that are meant so: by kind and by what each is about, the reason.",
    )


class RelationSpec(Table):
    """A relation between features that data suggest and nobody has reviewed."""

    text: StrictStr = Field(
        description="What the problem states once it is approved: an equation, a rule or a group."
    )
    features: list[StrictStr] = Field(min_length=2, description="The features of the relation.")
    rows: Count | None = Field(None, description="Number of rows on which it was judged.")
    holds: Count | None = Field(None, description="Number of these rows on which it holds.")


class ProblemSpec(Table):
    """The keys of a problem."""

    name: StrictStr = Field("problem", description="Shown in answers.")
    language: StrictStr = Field(
        "en", description="The language of its own words, such as labels and units."
    )
    goal: StrictStr = Field(description="The query that must succeed at the end.")
    law: Law = Field(
        Law.IFF,
        description="The law of the causal rules: effects hold exactly where a rule says so (iff), wherever one does (if), or nowhere else (only_if).",
    )
    exceptions: Exceptions = Field(
        Exceptions.ABDUCE,
        description="What becomes of a person who breaks a rule at the start: taken as they are (abduce), or refused (strict).",
    )
    effects: Effects = Field(
        Effects.TRIGGERED,
        description="When effects happen: only where a law is broken (triggered), or wherever a rule supports them (supported).",
    )
    norm: Norm = Field(
        Norm.L1,
        description="How efforts add up: the number of changes (l0), their sum (l1), the root of their squares (l2) or the largest (linf).",
    )
    minimize: Objectives = Field(
        "cost",
        description="What comes first: cost, actions (the number of direct actions), a resource, or a list of these.",
    )
    max_actions: Whole | None = Field(
        None, description="The most direct actions of a plan; repetitions count once."
    )
    source: SourceSpec | None = Field(
        None, description="Where learned rules come from; every answer repeats it."
    )
    rules: StrictStr | None = Field(
        None, description="Decision rules, causal rules and constraints as text."
    )
    rules_file: StrictStr | None = Field(
        None, description="A file with the rules instead, relative to the problem's."
    )
    model: ModelSpec | None = Field(
        None, description="A model that decides `accepted(X)`, in the place of decision rules."
    )
    features: dict[str, FeatureSpec] = Field(
        min_length=1, description="What is known of a person, a table for each feature."
    )
    resources: dict[StrictStr, ResourceSpec] = Field(
        default_factory=dict, description="What actions use up, such as months and dollars."
    )
    actions: dict[StrictStr, ActionSpec] = Field(
        default_factory=dict, description="Actions with a name, which may change several features."
    )
    relations: dict[StrictStr, RelationSpec] = Field(
        default_factory=dict,
        description="Relations that data suggest, by id, until an expert has approved or rejected them.",
    )
    lint: LintSpec = Field(LintSpec(), description="What p2c lint should know.")
    _file: str = PrivateAttr("")

    def to_dict(self) -> dict[str, Any]:
        """Return the keys as `read_spec` reads them, those left at their defaults aside."""
        return self.model_dump(
            mode="json", by_alias=True, exclude_defaults=True, exclude={"rules_file"}
        )

    def placed(self, key: Literal["rules", "goal"]) -> str:
        """Return the rules or the goal, moved to where they stand in the TOML file that they were read from."""
        text = (self.rules or "") if key == "rules" else self.goal
        inside = self._file and (key == "goal" or self.rules_file is None)
        return placed_text(self._file, key, text) if inside else text

    def located(self, faults: Iterable[Fault]) -> list[Fault]:
        """Return faults with the places of their keys in the TOML file that the problem was read from."""
        return located(faults, self._file)


BY_MODEL = "accepted(X)"
"""The goal of a problem with a model, unless it says otherwise."""


def read_spec(
    data: Mapping[str, Any], *, folder: Path | None = None, source: str = ""
) -> ProblemSpec:
    """Check a dict of the contract's shape; `rules_file` is read relative to the folder."""
    given: object = data
    if not isinstance(given, Mapping):
        message = (
            f"expected a table of keys such as 'goal' and 'features', found {shown_kind(given)}"
        )
        raise ProblemError([Fault("", message)], source=source)
    if given and not {str(key) for key in given} & ProblemSpec.model_fields.keys():
        names = ", ".join(repr(str(key)) for key in islice(given, 3))
        message = f"no problem: it has {names}, and none of 'goal', 'rules', 'features'; is it a row? A problem comes first"
        raise ProblemError([Fault("", message)], source=source)
    keys = {str(key): value for key, value in given.items()}
    if keys.get("model") is not None:
        keys = {"goal": BY_MODEL, **({} if "rules_file" in keys else {"rules": ""}), **keys}
    try:
        spec = ProblemSpec.model_validate(keys)
    except ValidationError as error:
        faults = [fault_of(each, _keys_beside(each["loc"])) for each in error.errors()]
        raise ProblemError(faults, source=source) from None
    if (spec.rules is None) == (spec.rules_file is None):
        message = "give the rules either here or in 'rules_file', one of the two"
        raise ProblemError([Fault("rules", message)], source=source)
    unknown = [
        name for name in (spec.model.columns if spec.model else ()) if name not in spec.features
    ]
    if unknown:
        message = f"no feature is called so; {suggestion(unknown[0], spec.features)}"
        raise ProblemError([Fault(f"model.columns.{unknown[0]}", message)], source=source)
    if spec.rules_file is None:
        return spec
    try:
        file = (folder or Path()) / spec.rules_file
        refuse_special(file)
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        message = f"cannot read {shown_kind(spec.rules_file)}: {unreadable(error)}"
        raise ProblemError([Fault("rules_file", message)], source=source) from None
    return spec.model_copy(update={"rules": text})


MANIFEST = "manifest.json"
"""The file by which a folder is one with a model."""


def refuse_bare_folder(folder: Path) -> None:
    """Refuse a folder that has no model, and say what may have been meant."""
    if not (folder / MANIFEST).is_file():
        files = sorted(folder.glob("*.toml"))
        meant = f"name the problem's file, such as {files[0]}" if files else "p2c fit makes one"
        raise P2CError(f"{folder}: no {MANIFEST} in it, so it is no folder of a model; {meant}")


def load_spec(path: Path) -> ProblemSpec:
    """Read a problem from a TOML or JSON file."""
    text = read_text(path)
    try:
        data = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "JSON" if path.suffix == ".json" else "TOML"
        raise P2CError(f"{path}: not {kind}: {misread(error, text)}") from None
    written = "" if path.suffix == ".json" else text
    try:
        spec = read_spec(data, folder=path.parent, source=str(path))
    except ProblemError as error:
        raise ProblemError(located(error.faults, written), source=str(path)) from None
    spec._file = written
    return spec


def located(faults: Iterable[Fault], file: str) -> list[Fault]:
    """Return faults with the lines and columns of their keys in a TOML file, where they have none yet."""
    found = []
    for each in faults:
        at = "" if each.message.startswith("line ") else placed_key(file, each.place)
        found.append(Fault(each.place, f"{at}: {each.message}") if at else each)
    return found


def read_text(path: Path) -> str:
    """Return the text of a file, every line ending alike."""
    return read_exactly(path).replace("\r\n", "\n").replace("\r", "\n")


def read_exactly(path: Path) -> str:
    """Return the text of a file, or of standard input for `-`, with its own line ends, or say why it cannot be read."""
    try:
        raw = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
        return raw.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise P2CError(f"{path}: cannot be read: {unreadable(error)}") from None


def path_of(given: object, *, kind: str = "file", hint: str = "") -> Path:
    """Return the path that somebody gives; refuse what is none."""
    if not isinstance(given, str | PathLike):
        raise P2CError(f"expected the path of a {kind}, found a {type(given).__name__}{hint}")
    return Path(given)


def refuse_special(path: Path) -> None:
    """Refuse a pipe or a device, which could keep the one who reads it waiting for ever."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # who reads it says why it cannot be read
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise P2CError(f"{path}: cannot be read: expected a regular file, found a pipe or a device")


def unreadable(error: OSError | ValueError) -> str:
    """Say why the text of a file could not be read."""
    if isinstance(error, OSError):
        return error.strerror or "the system gives no reason"
    return "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "it is no file name"


TABLES: dict[int, type[BaseModel]] = {1: ProblemSpec, 3: FeatureSpec, 5: WordsSpec}
"""Which table a key stands in, by how deep it stands: `goal`, `features.age.min`, `features.age.languages.de.label`."""
NESTED: dict[str, type[BaseModel]] = {"lint": LintSpec, "model": ModelSpec}
"""The tables of their own beside the features."""
BY_NAME: dict[str, type[BaseModel]] = {"resources": ResourceSpec, "actions": ActionSpec}
"""The tables of named parts beside the features."""

SOURCE = 'expected { from = "model" or "labels", fidelity = 0.983, rows = 32561, name = "…" } and no other key'
EXPECTED = {
    "string_type": "expected text",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "dict_type": "expected a table",
    "model_type": "expected a table of keys such as 'type'",
    "too_short": "expected at least one feature",
    "missing": "this key is missing",
}


def fault_of(error: ErrorDetails, known: Iterable[str]) -> Fault:
    """Return what pydantic found wrong as a fault; `known` are the keys that stand where an unknown one does."""
    place = ".".join(str(each) for each in error["loc"] if each != "[key]")
    kind = error["type"]
    if error["loc"][0] == "source" and kind in ("extra_forbidden", "model_type"):
        return Fault(place, SOURCE)
    if kind == "extra_forbidden" and error["loc"][-1] == "causal":
        return Fault(place, "unknown key; did you mean 'law', the law of the causal rules?")
    if kind == "extra_forbidden":
        return Fault(place, f"unknown key; {suggestion(str(error['loc'][-1]), known)}")
    if kind in ("missing", "too_short"):
        return Fault(place, EXPECTED[kind])
    listed = kind in ("enum", "literal_error")
    expected = f"expected {error['ctx']['expected']}" if listed else error["msg"]
    return Fault(place, f"{EXPECTED.get(kind, expected)}, found {shown_kind(error['input'])}")


def _keys_beside(place: tuple[int | str, ...]) -> Iterable[str]:
    """Return the keys of the table in which a place of a problem lies."""
    if "uses" in place[2:]:
        return UseSpec.model_fields
    if place[0] in BY_NAME and len(place) > 2:
        table: type[BaseModel] = BY_NAME[str(place[0])] if len(place) == 3 else LabelSpec
        return table.model_fields
    table = TABLES.get(len(place) if place[0] == "features" else 1, ProblemSpec)
    return (NESTED.get(str(place[0]), table) if len(place) == 2 else table).model_fields


def shown_kind(found: object) -> str:
    """Return what was found, in a few words and on one line."""
    if isinstance(found, str | int | float) or found is None:
        return shown(found)
    return {"dict": "a table", "list": "a list"}.get(name := type(found).__name__, f"a {name}")
