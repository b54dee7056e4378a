"""The manifest of a folder: checksums of its files and facts about the model."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError

from p2c._folder.sample import SampleColumn  # noqa: TC001 - pydantic needs it at run time
from p2c._learn.tables.look import Assumption  # noqa: TC001 - pydantic needs it
from p2c._release import DISTRIBUTION, versions_of
from p2c._spec.files import file_digest
from p2c._spec.spec import MANIFEST, read_text, refuse_bare_folder
from p2c.errors import P2CError

if TYPE_CHECKING:
    from pathlib import Path

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
