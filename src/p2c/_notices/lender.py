"""A lender's file: logo, sender, closing words, sources of data, codes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, PrivateAttr, StrictStr

from p2c._notices.form import read_form, read_table, table_of
from p2c._report.document import Picture
from p2c._spec.spec import Table, unreadable
from p2c.errors import Fault, NoticeError, shown

if TYPE_CHECKING:
    from p2c._audit.reasons import Catalogue
    from p2c._notices.form import Form

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
