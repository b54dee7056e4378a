"""The manifest of a folder: checksums, facts about the model, sample rows."""

from __future__ import annotations

import csv
import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    model_serializer,
)

from p2c._learn.tables.domains import is_number, tidy_frame
from p2c._learn.tables.look import Assumption  # noqa: TC001 - pydantic needs it
from p2c._learn.tables.view import is_gone
from p2c._release import DISTRIBUTION, versions_of
from p2c._spec.files import file_digest
from p2c._spec.spec import MANIFEST, read_text, refuse_bare_folder
from p2c.errors import P2CError, one_line

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


MOST_ROWS = 50_000
"""Number of sample rows, without rows for ranges and categories."""


class SampleColumn(BaseModel):
    """One column: its name, its pandas type, and the values behind its texts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: StrictStr
    dtype: StrictStr
    categories: tuple[Any, ...] | None = None
    ordered: StrictBool = False
    originals: dict[StrictStr, Any] | None = None
    gap: StrictStr | None = None
    """The text of the missing value, if it differs from the type's own."""

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out absent keys."""
        written: dict[str, Any] = write(self)
        return {key: each for key, each in written.items() if key != "gap" or each is not None}

    @property
    def missing(self) -> Any:
        """Return the missing value of the column."""
        usual = None if self.dtype == "object" else np.nan
        return usual if self.gap is None else GAPS[self.gap]


GAPS = {str(each): each for each in (None, np.nan, pd.NA, pd.NaT, "")}
"""Missing values by their texts."""


def sample_rows(frame: pd.DataFrame, *, seed: int = 0, most: int = MOST_ROWS) -> NDArray[np.intp]:
    """Return the rows to keep: extremes and categories first, then random rows."""
    needed = dict.fromkeys(row for name in frame.columns for row in _needed(frame[name]))
    others = np.random.default_rng(seed).permutation(len(frame))
    room = max(most - len(needed), 0)
    chosen = [row for row in others.tolist() if row not in needed][:room]
    return np.array([*needed, *chosen], dtype=np.intp)


def _needed(column: pd.Series) -> list[int]:
    tidy = tidy_frame(column.to_frame("x"))["x"]
    gone: list[int] = np.flatnonzero(column.isna().to_numpy())[:1].tolist()
    if is_number(tidy):
        values = tidy.to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isnan(values).all():
            return gone
        return [int(np.nanargmin(values)), int(np.nanargmax(values)), *gone]
    first: list[int] = np.flatnonzero(~column.astype(object).duplicated().to_numpy()).tolist()
    return [*first, *gone]


def write_sample(frame: pd.DataFrame, path: Path) -> tuple[SampleColumn, ...]:
    """Write rows as CSV and return how to read them again."""
    columns = tuple(_described(name, frame[name]) for name in frame.columns)
    # Python before 3.13 leaves a lone CR in a cell without the quotes that it needs.
    frame.to_csv(path, index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return columns


def _described(name: Any, column: pd.Series) -> SampleColumn:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        kinds = tuple(_plain(name, each) for each in dtype.categories)
        return SampleColumn(
            name=str(name), dtype="category", categories=kinds, ordered=bool(dtype.ordered)
        )
    if pd.api.types.is_object_dtype(dtype):
        known = {str(each): _plain(name, each) for each in column.dropna().unique()}
        odd = {text: each for text, each in known.items() if not isinstance(each, str)}
        return SampleColumn(name=str(name), dtype="object", originals=odd or None, gap=_gap(column))
    texts = pd.api.types.is_string_dtype(dtype)
    return SampleColumn(name=str(name), dtype=str(dtype), gap=_gap(column) if texts else None)


def _gap(column: pd.Series) -> str | None:
    """Return the missing value of a text column, if it differs from the type's own."""
    first = next(iter(column[is_gone(column)]), None)
    told = first is not None and (isinstance(first, str) or column.dtype == object)
    return str(first) if told else None


def _plain(name: Any, value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, str | int | float | bool):
        raise P2CError(
            f"column '{name}': a {type(value).__name__} cannot be kept in a table of text: make it a number or text"
        )
    return value


def read_sample(path: Path, columns: tuple[SampleColumn, ...]) -> pd.DataFrame:
    """Return the rows that were written, typed as they were."""
    try:
        texts = pd.read_csv(path, dtype=str, keep_default_na=False)
        if list(texts.columns) != [each.name for each in columns]:
            raise ValueError("its columns are not those of the manifest")
        typed = {each.name: _typed(texts[each.name], each) for each in columns}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise P2CError(f"{path}: cannot be read: {one_line(error)}") from None
    return pd.DataFrame(typed)


def _typed(texts: pd.Series, column: SampleColumn) -> pd.Series:
    plain = texts.astype(object)
    known = plain.where(plain != "", None)
    if column.dtype == "category":
        kinds = {str(each): each for each in column.categories or ()}
        values = [None if each is None else kinds[each] for each in known]
        return pd.Series(
            values, dtype=pd.CategoricalDtype(list(kinds.values()), ordered=column.ordered)
        )
    if column.dtype == "object":
        odd = column.originals or {}
        values = [column.missing if each is None else odd.get(each, each) for each in known]
        return pd.Series(values, dtype=object)
    if column.dtype in ("bool", "boolean"):
        truths = {"True": True, "False": False}
        values = [None if each is None else truths[each] for each in known]
        return pd.Series(values, dtype=column.dtype)
    kind: Any = pd.api.types.pandas_dtype(column.dtype)
    if pd.api.types.is_string_dtype(kind):
        found: pd.Series = pd.Series(
            [column.missing if each is None else each for each in known], dtype=kind
        )
        return found
    return _numbers(known, kind)


def _numbers(known: pd.Series, kind: Any) -> pd.Series:
    whole = pd.api.types.is_integer_dtype(kind)
    values = [None if each is None else int(each) if whole else float(each) for each in known]
    found: pd.Series = pd.Series(values, dtype=kind)
    return found


PROBLEM = "problem.toml"
SAMPLE = "sample.csv"
STAND_IN = "stand_in.lp"
EDITABLE = (PROBLEM, STAND_IN)
"""The files of every folder that are meant to be edited."""
PACKAGES = (
    DISTRIBUTION,
    "scikit-learn",
    "numpy",
    "pandas",
    "skops",
    "onnxruntime",
    "xgboost",
    "xgboost-cpu",
    "lightgbm",
    "catboost",
    "interpret-core",
    "optbinning",
)
"""The packages that determine the answers of a stored model."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelEntry(_Record):
    """The model: its file, its type, and whether it was parsed."""

    file: StrictStr
    kind: StrictStr
    read: StrictBool
    told: StrictStr


class SampleEntry(_Record):
    """The sample: its columns, and the model's answers in hexadecimal digits."""

    rows: StrictInt
    framed: StrictBool
    columns: tuple[SampleColumn, ...]
    accepted: StrictStr


class Manifest(_Record):
    """The contents of a folder; `checksum` is the hash of all other fields."""

    format: StrictInt = 1
    files: dict[StrictStr, StrictStr]
    rules_file: StrictStr | None = None
    """The file, one of `files`, with the problem's rules; not written if None."""
    model: ModelEntry
    sample: SampleEntry
    learned: dict[StrictStr, Any] | None = None
    """The agreement of the surrogate rules, in the form of a problem's `source`."""
    extraction: dict[StrictStr, Any] | None = None
    assumptions: tuple[Assumption, ...] = ()
    """The action of each column when the folder was made, and why it was assumed."""
    budget: StrictInt = Field(2_000, ge=1)
    seed: StrictInt = 0
    versions: dict[StrictStr, StrictStr]
    checksum: StrictStr = ""

    def with_checksum(self) -> Manifest:
        """Return the manifest with the hash of the rest."""
        return self.model_copy(update={"checksum": self._digest()})

    def _keys(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude=set() if self.rules_file else {"rules_file"})

    def _digest(self) -> str:
        keys = {key: value for key, value in self._keys().items() if key != "checksum"}
        return sha256(json.dumps(keys, sort_keys=True).encode()).hexdigest()

    @property
    def is_whole(self) -> bool:
        """Tell whether the checksum is that of the rest."""
        return self.checksum == self._digest()

    @property
    def editable(self) -> tuple[str, ...]:
        """Return the files that are meant to be edited; the edit has to be accepted."""
        return (*EDITABLE, *([self.rules_file] if self.rules_file else []))

    def text(self) -> str:
        """Return the manifest as the text of its file."""
        return json.dumps(self._keys(), indent=2, ensure_ascii=False) + "\n"


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a folder; one that is torn or modified is refused."""
    refuse_bare_folder(folder)
    path = folder / MANIFEST
    try:
        found = Manifest.model_validate_json(read_text(path))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the text"
        raise P2CError(f"{path}: not as p2c writes it: {place}: {first['msg']}") from None
    if found.format != 1:
        raise P2CError(
            f"{path}: format {found.format}, and this p2c reads 1: another version of p2c"
        )
    if not found.is_whole or path.read_bytes() != found.text().encode():
        raise P2CError(f"{path}: modified since it was written: make the folder again with p2c fit")
    for name in found.files:
        if name in ("", ".", "..", MANIFEST) or "/" in name or "\\" in name or "\0" in name:
            raise P2CError(f"{path}: '{name}' is no file of this folder: the manifest was modified")
    for name in (PROBLEM, SAMPLE, found.model.file):
        if name not in found.files:
            raise P2CError(f"{path}: no hash of {name}: the manifest was modified")
    return found


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a folder with its checksum, equal on every system."""
    (folder / MANIFEST).write_bytes(manifest.with_checksum().text().encode())


def changed_files(folder: Path, manifest: Manifest) -> list[str]:
    """Return the changed files of a folder; refuse missing files and links."""
    found = []
    for name, known in manifest.files.items():
        path = folder / name
        if path.is_symlink() or not path.is_file():
            raise P2CError(f"{path}: a file of the folder is gone, or leads elsewhere")
        if file_digest(path) != known:
            found.append(name)
    return found


def refuse_changed(folder: Path, manifest: Manifest) -> None:
    """Refuse a folder with a file that was changed, and say how an edit is accepted."""
    for name in changed_files(folder, manifest):
        path = folder / name
        if name in manifest.editable:
            raise P2CError(
                f"{path}: changed since it was last accepted; if that is your edit: p2c lint {folder} --accept"
            )
        raise P2CError(f"{path}: changed since the folder was written: make it again with p2c fit")


def fingerprint(path: Path) -> str:
    """Return the checksum of a folder or the hash of a file.

    It tells whether a problem's model is still the same.
    """
    if path.is_dir():
        return read_manifest(path).checksum
    return file_digest(path)


def installed() -> dict[str, str]:
    """Return the versions of the installed packages in `PACKAGES`."""
    return versions_of(PACKAGES)


def differing(versions: dict[str, str]) -> str:
    """Say which packages have another version here than a folder was written with."""
    here = installed()
    told = [
        f"{name} {known}, here {here.get(name, 'none')}"
        for name, known in versions.items()
        if here.get(name) != known
    ]
    return f"written with {'; '.join(told)}" if told else "the versions are the same"
