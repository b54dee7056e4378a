"""The files that a lender edits: forms, the lender's own, cases."""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import Field, PrivateAttr, StrictBool, StrictInt, StrictStr, ValidationError

from p2c._report.document import Picture
from p2c._spec.files import read_sheet
from p2c._spec.misread import misread
from p2c._spec.spec import Table, fault_of, path_of, read_text, unreadable
from p2c.errors import Fault, NoticeError, P2CError, check_word, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p2c._audit.reasons import Catalogue


PLACE = re.compile(r"\{(\w+)\}")
FORMS = ("reg-b", "ccd2", "colorado", "plain")
"""The forms that come with the package."""
T = TypeVar("T", bound=Table)


class Block(Table):
    """A part of a notice.

    Attributes:
        cite: The place in the law that asks for it.
        heading: The heading by language.
        text: The paragraphs by language, separated by empty lines, with fields in braces.
        when: A field that is true if the block is part of the notice; empty for every notice.
        listing: The list below the text.
        fixed: Whether a regulation fixes the words.
        mandatory: Whether an edited copy has to keep the block.
    """

    cite: StrictStr
    heading: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    text: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    when: StrictStr = ""
    listing: Literal["", "reasons", "key_factors", "inputs", "letter"] = Field("", alias="list")
    fixed: StrictBool = False
    mandatory: StrictBool = True

    @property
    def places(self) -> tuple[str, ...]:
        """Return the fields of the block in text order."""
        texts = (*self.heading.values(), *self.text.values())
        listed = ("key_factors",) if self.listing == "key_factors" else ()
        return (*dict.fromkeys(name for text in texts for name in PLACE.findall(text)), *listed)

    @property
    def languages(self) -> frozenset[str] | None:
        """Return the languages of the block; None without words."""
        tables = [frozenset(each) for each in (self.heading, self.text) if each]
        return frozenset.intersection(*tables) if tables else None


class Form(Table):
    """A notice: its blocks in reading order, and the explanations of fields."""

    name: StrictStr
    title: dict[StrictStr, StrictStr]
    frame: tuple[StrictStr, ...] = ()
    retention_months: StrictInt | None = Field(None, ge=0)
    fields: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    defaults: dict[StrictStr, Any] = Field(default_factory=dict)
    blocks: dict[StrictStr, Block]

    def check_language(self, language: str) -> None:
        """Refuse a language in which a part has no text."""
        if language not in self.title:
            raise NoticeError(self.name, [Fault("title", f"no text in '{language}'")])
        faults = [
            Fault(f"blocks.{name}", f"no text in '{language}'")
            for name, block in self.blocks.items()
            if block.languages is not None and language not in block.languages
        ]
        if faults:
            raise NoticeError(self.name, faults)

    def explained(self, name: str) -> str:
        """Return the explanation of a field."""
        return self.fields.get(name) or frame_fields().get(name, "")


def read_form(source: object) -> Form:
    """Return a form by its name, or from a file."""
    if isinstance(source, str) and source in FORMS:
        return packaged(source)
    path = path_of(source, kind="form")
    if not path.suffix:
        check_word("notice: no form", source, FORMS)
    form = read_table(path, Form)
    faults = [*_undeclared(form)]
    if form.name in FORMS:
        faults += _lost(form, packaged(form.name))
    if faults:
        raise NoticeError(str(path), faults)
    return form


@cache
def packaged(name: str) -> Form:
    """Return a form that comes with the package."""
    return Form.model_validate(tomllib.loads(form_text(name)))


def form_text(name: str) -> str:
    """Return the text of a file of this package's forms."""
    file = resources.files("p2c._notices").joinpath("forms", f"{name}.toml")
    return file.read_text(encoding="utf-8")


@cache
def frame_fields() -> Mapping[str, str]:
    """Return the fields of the frame of a letter with their explanations."""
    return dict(tomllib.loads(form_text("frame"))["fields"])


def known_fields(form: Form) -> set[str]:
    """Return each field that a lender's file may have: it serves several forms."""
    forms = (form, *map(packaged, FORMS))
    return {*frame_fields(), *(name for each in forms for name in each.fields)}


def read_table(path: Path, kind: type[T]) -> T:
    """Return a TOML file as a table; all faults are reported at once."""
    text = read_text(path)
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NoticeError(str(path), [Fault("", f"not TOML: {misread(error, text)}")]) from None
    return table_of(data, kind, str(path))


def table_of(data: Mapping[str, Any], kind: type[T], source: str) -> T:
    """Return a mapping as a table of a kind."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        found = error.errors(include_url=False)
        faults = [fault_of(each, _keys_at(each["loc"], kind)) for each in found]
        raise NoticeError(source, faults) from None


def _keys_at(place: tuple[int | str, ...], kind: type[Table]) -> Iterable[str]:
    """Return the keys that stand where a place is."""
    if kind is Form and place[0] == "blocks" and len(place) > 2:
        return [each.alias or name for name, each in Block.model_fields.items()]
    return kind.model_fields


def _undeclared(form: Form) -> Iterator[Fault]:
    """Yield fields of blocks that the form does not explain."""
    explained = {*form.fields, *frame_fields()}
    for name, block in form.blocks.items():
        for place in (*block.places, *([block.when] if block.when else [])):
            if place not in explained:
                hint = suggestion(place, explained)
                yield Fault(f"blocks.{name}", f"no field '{place}' under [fields]; {hint}")


def _lost(form: Form, law: Form) -> Iterator[Fault]:
    """Yield the mandatory parts that an edited copy of a form lacks."""
    for name in law.frame:
        if name not in form.frame:
            yield Fault("frame", f"'{name}' is missing; a {law.name} notice has to have it")
    for name, block in law.blocks.items():
        if not block.mandatory:
            continue
        if name not in form.blocks:
            yield Fault(
                f"blocks.{name}", f"is missing; a {law.name} notice has to have it ({block.cite})"
            )
            continue
        own = form.blocks[name]
        if own.listing != block.listing:
            yield Fault(f"blocks.{name}.list", f"expected '{block.listing}' ({block.cite})")
        if own.when not in ("", block.when):
            yield Fault(f"blocks.{name}.when", f"expected '{block.when}' or nothing ({block.cite})")
        for language, text in own.text.items():
            for place in block.places:
                if place != "key_factors" and place not in PLACE.findall(text):
                    message = f"the field '{{{place}}}' is missing ({block.cite})"
                    yield Fault(f"blocks.{name}.text.{language}", message)


Text = StrictStr | dict[StrictStr, StrictStr]
"""A text for every language, or one for each."""
KINDS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg"}
"""How pictures begin; an SVG is text."""
LARGEST_LOGO = 1_000_000


class Lender(Table):
    """The keys of a lender's file.

    `fields` fills the places of forms, `sources` says where the data of each feature come from ("*" for the rest),
    `protected` names what is never given as a reason, `reasons` the file of codes, `forms` the lender's edited copies of
    forms by their names.
    """

    logo: StrictStr = ""
    protected: tuple[StrictStr, ...] | None = None
    reasons: StrictStr = ""
    forms: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    fields: dict[StrictStr, Any] = Field(default_factory=dict)
    sources: dict[StrictStr, Text] = Field(default_factory=dict)
    _folder: Path = PrivateAttr(Path())

    def picture(self) -> Picture | None:
        """Return the logo."""
        if not self.logo:
            return None
        path = self._folder / self.logo
        try:
            content = path.read_bytes()
        except OSError as error:
            raise NoticeError("logo", [Fault(str(path), unreadable(error))]) from None
        kind = next((kind for start, kind in KINDS.items() if content.startswith(start)), "")
        if not kind and b"<svg" in content[:1000]:
            kind = "svg"
        if not kind or len(content) > LARGEST_LOGO:
            message = f"expected PNG, JPEG or SVG of at most {LARGEST_LOGO:,} bytes"
            raise NoticeError("logo", [Fault(str(path), message)])
        return Picture(content, kind, str(self.fields.get("creditor", "")))

    def form(self, source: object) -> Form:
        """Return a form by its name or from a file.

        The lender's copy of a form comes before the packaged one.
        """
        own = self.forms.get(source) if isinstance(source, str) else None
        return read_form(source if own is None else self._folder / own)

    def catalogue(self) -> Catalogue:
        """Return the codes of reasons."""
        from p2c._audit.reasons import Catalogue, read_catalogue

        protected = self.protected or ()
        if not self.reasons:
            return Catalogue(protected=protected)
        return read_catalogue(self._folder / self.reasons, protected)


def read_lender(source: object) -> Lender:
    """Return a lender from a file, a mapping of the same shape, or nothing."""
    if source is None:
        return Lender()
    if isinstance(source, Lender):
        return source
    if isinstance(source, dict):
        return table_of(source, Lender, "lender")
    if not isinstance(source, str | Path):
        raise NoticeError(
            "lender", [Fault("", f"expected a file or a mapping, found {shown(source)}")]
        )
    path = Path(source)
    lender = read_table(path, Lender)
    lender._folder = path.parent
    return lender


FLAGS = {"true": True, "false": False}


def read_cases(path: Path) -> list[dict[str, Any]]:
    """Return the fields of each case in a file, in the order of its rows.

    A blank cell of CSV is a missing field.
    """
    text = read_text(path)
    if not text.lstrip().startswith(("{", "[")):
        sheet = read_sheet(path)
        rows = (zip(sheet.names, row.cells, strict=True) for row in sheet.rows)
        return [{name: typed(cell) for name, cell in row if cell.strip()} for row in rows]
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        data = _json_lines(path, text)
    except (ValueError, RecursionError) as error:
        raise P2CError(f"{path}: not JSON: {misread(error, text)}") from None
    cases = data if isinstance(data, list) else [data]
    if not all(isinstance(each, dict) for each in cases):
        raise P2CError(f"{path}: expected a JSON object of fields for each person")
    return cases


def _json_lines(path: Path, text: str) -> list[Any]:
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise P2CError(f"{path}: not JSON: {misread(error, text)}") from None


def typed(text: str) -> str | bool:
    """Return the text of a field, a truth value where it is one."""
    return FLAGS.get(text.strip().lower(), text.strip())


def fields_of(options: Iterable[str]) -> dict[str, str | bool]:
    """Return the fields of options such as `reference=4711`.

    >>> fields_of(["reference=4711", "outside_source=false"])
    {'reference': '4711', 'outside_source': False}
    """
    fields: dict[str, str | bool] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not (equals and name.strip()):
            raise P2CError(f"--field: expected NAME=VALUE, found '{option}'")
        fields[name.strip()] = typed(text)
    return fields
