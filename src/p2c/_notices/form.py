"""The form of a notice: blocks of text with fields, in an editable TOML file.

The forms of laws come with the package. An edited copy keeps the name of its form, and then has to keep each mandatory
block of it and every field in that block.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import Field, StrictBool, StrictInt, StrictStr, ValidationError

from p2c._spec.misread import misread
from p2c._spec.spec import Table, fault_of, path_of, read_text
from p2c.errors import Fault, NoticeError, check_word, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

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
