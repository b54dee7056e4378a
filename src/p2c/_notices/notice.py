"""A notice as a document: the frame of a letter around the blocks of a form."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from p2c._audit.reasons import reason_words, reasons_against
from p2c._explain.letter import teller_in, write_letter
from p2c._explain.sentences import filled, number_words
from p2c._explain.teller import Item
from p2c._markup import clean
from p2c._notices.form import PLACE, known_fields
from p2c._report.document import (
    Document,
    Grid,
    Heading,
    Lines,
    Listing,
    Paragraph,
    letter_document,
    plan_figure,
)
from p2c._spec.feature import is_raw_name, missing_words
from p2c.errors import Fault, NoticeError, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p2c._audit.reasons import Catalogue, Reason
    from p2c._explain.teller import Teller
    from p2c._notices.form import Block, Form, Lender
    from p2c._plan.outcome import Plan
    from p2c._report.document import Block as Part
    from p2c._rules.theory import Theory
    from p2c._statement import Statement

FACTORS = 5
"""Maximum number of key factors: four, and the number of inquiries.

15 U.S.C. 1681g(f)(1)(C) and (9).
"""


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice to one person, with the facts for its record in the register."""

    form: Form
    document: Document
    reasons: tuple[Reason, ...]
    reference: str
    date: date
    months: int


def write_notice(
    problem: Statement,
    plan: Plan,
    form: Form,
    lender: Lender,
    case: Mapping[str, Any],
    *,
    language: str,
    catalogue: Catalogue | None = None,
    time_limit: float | None = None,
) -> Notice:
    """Return the notice to a person who is refused.

    Raises:
        NoticeError: A mandatory field is missing, the answer is a yes, there is no reason that may be given, or a word is
            missing in the language. All that is missing is named.
    """
    if plan.status == "already" and form.name != "plain":
        raise NoticeError(
            form.name, [Fault("", "the decision is a yes: there is no refusal to give notice of")]
        )
    form.check_language(language)
    values = _Values(
        form, lender, {"date": date.today(), **form.defaults, **lender.fields, **case}, language
    )
    wanted: set[str] = {each.listing for each in values.shown()}
    faults = [*values.faults(), *_source_faults(problem.theory, lender, wanted, language)]
    if "reasons" in wanted and catalogue is None and lender.protected is None:
        what = "features that are never given as a reason, an empty list if there are none"
        faults.append(
            Fault("protected", f"missing: {what}; give it at the top of the lender's file")
        )
    faults += _word_faults(problem.theory, language)
    if faults:
        raise NoticeError(form.name, faults)
    reasons: tuple[Reason, ...] = ()
    if "reasons" in wanted:
        chosen = lender.catalogue() if catalogue is None else catalogue
        reasons = reasons_against(
            problem.compiled, plan, chosen.in_language(language), time_limit=time_limit
        )
        if not reasons:
            raise NoticeError(form.name, [Fault("reasons", _no_reason(plan))])
    writer = _Writer(problem, plan, values, reasons, teller_in(problem.worded, language))
    document = writer.document()
    return Notice(
        form, document, reasons, str(values["reference"]), values.day("date"), values.months()
    )


def _no_reason(plan: Plan) -> str:
    if plan.status == "gave_up":
        return "none was found within the limits: give more time"
    return "there is none that is not protected: a refusal that rests on protected features cannot be explained by others"


@dataclass(frozen=True)
class _Values:
    """The fields of a notice and their faults."""

    form: Form
    lender: Lender
    fields: Mapping[str, Any]
    language: str

    def __getitem__(self, name: str) -> Any:
        value = self.fields.get(name)
        if isinstance(value, dict):
            value = value.get(self.language)
        if name == "retention_months" and isinstance(value, str) and value.isdecimal():
            return int(value[:6])
        if name == "key_factors" and isinstance(value, str):
            return [each.strip() for each in value.split(";") if each.strip()]
        return value

    def shown(self) -> list[Block]:
        """Return the blocks that this notice has."""
        return [
            each for each in self.form.blocks.values() if not each.when or self[each.when] is True
        ]

    def months(self) -> int:
        """Return how many months the notice is kept."""
        own = self["retention_months"]
        return own if isinstance(own, int) else self.form.retention_months or 0

    def faults(self) -> Iterator[Fault]:
        """Yield each missing or wrong field, by name."""
        names = known_fields(self.form) | {"retention_months"}
        for name in self.fields:
            if name not in names:
                yield Fault(name, f"no such field; {suggestion(name, names)}")
        for name, cite in self.needed().items():
            value = self[name]
            if value in (None, "", []):
                wrong = isinstance(self.fields.get(name), dict)
                missing = f"missing in '{self.language}'" if wrong else "missing"
                law = f" ({cite})" if cite else ""
                yield Fault(name, f"{missing}: {self.form.explained(name)}{law}")
            elif name in self.whens and not isinstance(value, bool):
                yield Fault(name, f"expected true or false, found {shown(value)}")
            elif name == "key_factors" and not _is_list(value):
                yield Fault(name, f"expected a list of 1 to {FACTORS} texts, found {shown(value)}")
            elif name == "retention_months" and (not isinstance(value, int) or value < 0):
                yield Fault(name, f"expected a whole number of months, found {shown(value)}")
        if self["date"] is not None and _day(self["date"]) is None:
            yield Fault("date", f"expected a day such as 2027-01-31, found {shown(self['date'])}")

    @property
    def whens(self) -> set[str]:
        """Return the fields that say whether a block is part of the notice."""
        return {each.when for each in self.form.blocks.values() if each.when}

    def needed(self) -> dict[str, str]:
        """Return the mandatory fields, each with its place in the law."""
        wanted = dict.fromkeys(self.form.frame, "")
        if self.form.retention_months is None:
            wanted["retention_months"] = ""
        for block in self.form.blocks.values():
            if block.when:
                wanted.setdefault(block.when, block.cite)
        for block in self.shown():
            for name in block.places:
                wanted[name] = wanted.get(name) or block.cite
        return wanted

    def day(self, name: str) -> date:
        """Return a field that is a day."""
        found = _day(self[name])
        assert found is not None
        return found


def _is_list(value: object) -> bool:
    listed = isinstance(value, list | tuple) and 0 < len(value) <= FACTORS
    return listed and all(isinstance(each, str) and each for each in value)  # type: ignore[attr-defined]


def _day(value: object) -> date | None:
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _source_faults(
    theory: Theory, lender: Lender, wanted: set[str], language: str
) -> Iterator[Fault]:
    """Yield each feature without a source, if the notice has a data sheet."""
    for name in lender.sources:
        if name != "*" and name not in theory.feature:
            yield Fault(f"sources.{name}", f"no such feature; {suggestion(name, theory.feature)}")
    if "inputs" not in wanted:
        return
    for name in theory.feature:
        source = lender.sources.get(name, lender.sources.get("*"))
        text = source.get(language) if isinstance(source, dict) else source
        if not text:
            missing = f"missing in '{language}'" if source else "missing"
            yield Fault(
                f"sources.{name}",
                f"{missing}: where the value comes from; give it under [sources] of the lender's file",
            )


def _word_faults(theory: Theory, language: str) -> Iterator[Fault]:
    """Yield each feature without words in the language of the letter."""
    for feature in theory.features:
        if language != theory.language:
            for key in missing_words(feature, language):
                yield Fault(
                    f"features.{feature.name}.languages.{language}.{key}",
                    "missing: the problem's words in the language of the letter",
                )
        if is_raw_name(feature):
            yield Fault(
                f"features.{feature.name}.label",
                f"missing: a letter would call it '{feature.name.replace('_', ' ')}'",
            )


@dataclass(frozen=True)
class _Writer:
    """Puts a notice together."""

    problem: Statement
    plan: Plan
    values: _Values
    reasons: tuple[Reason, ...]
    teller: Teller

    @property
    def words(self) -> Mapping[str, str]:
        return self.teller.phrases.notice

    def document(self) -> Document:
        form, language = self.values.form, self.values.language
        parts = [part for block in self.values.shown() for part in self._block(block)]
        return Document(
            language,
            form.title[language],
            (*self._opening(), *parts, *self._end()),
            tuple(self._head()),
        )

    def _head(self) -> Iterator[Part]:
        picture = self.values.lender.picture()
        if picture is not None:
            yield picture
        yield Lines(self._lines("creditor", "creditor_address", "creditor_contact"), "right")
        yield Lines(self._lines("applicant", "applicant_address"))
        place, day = self.values["place"], self._text("date")
        yield Lines((f"{place}, {day}" if place else day,), "right")
        yield Lines((filled(self.words["reference"], reference=self._text("reference")),))

    def _opening(self) -> Iterator[Part]:
        if self.values["salutation"]:
            yield Paragraph(self._text("salutation"))

    def _end(self) -> Iterator[Part]:
        yield Lines(self._lines("closing", "signature", "creditor"))
        if self.values["legal"]:
            yield Paragraph(self._text("legal"))

    def _lines(self, *names: str) -> tuple[str, ...]:
        texts = (self._text(name, ends="\n") for name in names if self.values[name])
        return tuple(line for text in texts for line in text.splitlines())

    def _text(self, name: str, ends: str = ", ") -> str:
        """Return a field as text: a day in words, lines joined by `ends`."""
        value = self.values[name]
        day = _day(value)
        if day is not None:
            return self._day_words(day)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return number_words(value, self.teller.phrases)
        return ends.join(clean(line).strip() for line in str(value).strip().splitlines())

    def _day_words(self, day: date) -> str:
        words = {
            "day": str(day.day),
            "month": self.words[f"month_{day.month}"],
            "year": str(day.year),
        }
        return filled(self.words["date"], **words)

    def _block(self, block: Block) -> Iterator[Part]:
        language = self.values.language
        if block.heading:
            yield Heading(self._filled(block.heading[language]))
        for text in block.text.get(language, "").strip().split("\n\n"):
            if text:
                yield Paragraph(self._filled(text))
        match block.listing:
            case "reasons":
                said = (reason_words(each, self.teller) for each in self.reasons)
                yield Listing(tuple(map(Item, said)), ordered=True)
            case "key_factors":
                yield Listing(
                    tuple(Item(clean(each)) for each in self.values["key_factors"]), ordered=True
                )
            case "inputs":
                yield self._inputs()
            case "letter":
                yield from self._letter()

    def _filled(self, text: str) -> str:
        return clean(filled(text, **{name: self._text(name) for name in PLACE.findall(text)}))

    def _inputs(self) -> Grid:
        """Return the data sheet: each input, its value, source, and weight."""
        sources = self.values.lender.sources
        reads = self.problem.theory.reads(self.problem.theory.goal)
        numbers = {each.feature: str(number) for number, each in enumerate(self.reasons, start=1)}
        rows = []
        for name, value in self.plan.question.initial.items():
            source = sources.get(name, sources.get("*", ""))
            text = source if isinstance(source, str) else source[self.values.language]
            counted = self.words["counted" if name in reads else "not_counted"]
            if name in numbers:
                counted = filled(self.words["counted_reason"], number=numbers[name])
            label = self.teller.label(name)
            told = clean(f"{label[:1].upper()}{label[1:]}"), clean(self.teller.value(name, value))
            rows.append((*told, clean(text), counted))
        return Grid.under(self.words, ("input", "value", "source", "whether"), rows)

    def _letter(self) -> Iterator[Part]:
        theory, language = self.problem.worded, self.values.language
        letter = write_letter(theory, self.plan, language=language)
        figure = plan_figure(theory, self.plan, language=language) if self.plan.steps else None
        yield from letter_document(letter, figure).blocks
