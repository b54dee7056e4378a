"""The page of a person: a form made from the problem, for each feature the right input and what may be said about it.

Or a row is picked from a table.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from fastapi import APIRouter, Response

from p2c._explain.phrases import phrases_of
from p2c._explain.sentences import filled, label_words, number_words, unit_of_one, value_words
from p2c._rules.cells import weighed_features
from p2c._server.pages.address import EXAMPLE, NUMBERS, case_of_row, number_fault
from p2c._server.pages.frame import Asked, CaseForm, Opened  # noqa: TC001 - fastapi needs it at run time
from p2c._spec.feature import Action, Grid, Points, in_language

if TYPE_CHECKING:
    from p2c._explain.phrases import Phrases
    from p2c._server.pages.address import Case, Reading
    from p2c._server.problem_store import Entry
    from p2c._spec.feature import Feature
    from p2c._spec.row import State


router = APIRouter()

SHOWN = 200
"""How many rows of a table are shown to pick from."""
GROUPS = {each: "change" if each.is_direct else each.value for each in Action}
"""The group of a feature in the form, by its action.

Features that no rule and no model reads stand apart, under `spare`.
"""


@router.get("/p/{id}/person")
async def person(asked: Asked) -> Response:
    """Show the form, and the rows to pick from."""
    away = asked.away("person")
    if away:
        return away
    entry, case = asked.entry, asked.case
    features = [in_language(each, case.spoken) for each in entry.problem.theory.features]
    rows = [_row(row, name, features, case) for name, row in islice(entry.rows.items(), SHOWN)]
    return asked.show(
        "person.html",
        page="person",
        labels=[label_words(each) for each in features],
        rows=rows,
        more=max(len(entry.rows) - SHOWN, 0),
        **form_facts(asked),
    )


@router.post("/p/{id}/person")
async def take(asked: Asked, form: CaseForm) -> Response:
    """Keep the values of a person and show the form again."""
    return asked.onward("person", form)


def _row(row: State, name: str, features: list[Feature], case: Case) -> dict[str, Any]:
    own = case_of_row(row).in_language(case.spoken, features)
    phrases = phrases_of(case.spoken)
    return {
        "name": name,
        "values": [
            "" if row[each.name] is None else value_words(each, row[each.name], phrases)
            for each in features
        ],
        "chosen": dict(own.values) == dict(case.values),
    }


def form_facts(asked: Opened) -> dict[str, Any]:
    """Return what the template of the form needs."""
    language = asked.case.spoken
    return {
        "groups": groups_of(asked.entry, asked.case, asked.read),
        "typing": json.dumps(typing_words(language)),
        "example_number": example_number(language),
    }


class Choice(NamedTuple):
    """One option of a list."""

    value: str
    text: str
    chosen: bool


def groups_of(entry: Entry, case: Case, read: Reading) -> list[dict[str, Any]]:
    """Return the fields of a problem's form, filled in from a case, in groups.

    Those that no rule and no model reads are shown at once only where something is said there.
    """
    theory = entry.problem.theory
    weighed = weighed_features(theory)
    found: dict[str, list[dict[str, Any]]] = {
        key: [] for key in ("change", "effect", "fixed", "spare")
    }
    for number, feature in enumerate(theory.features):
        key = GROUPS[feature.action] if feature.name in weighed else "spare"
        spoken = in_language(feature, case.spoken)
        found[key].append({"number": number, **_field(spoken, case, read)})
    return [
        {
            "key": key,
            "fields": fields,
            "is_open": key != "spare"
            or any(each["is_touched"] or each["fault"] for each in fields),
        }
        for key, fields in found.items()
        if fields
    ]


def typing_words(language: str) -> dict[str, str]:
    """Return what the page's script needs to read numbers as the server does, and to say what is wrong with one."""
    phrases = phrases_of(language)
    words = phrases.pages
    kept = ("expected_least", "expected_most", "reads_as", "cancelled", "failed", "unreachable")
    return {key: words[key] for key in (*kept, "copied", "no_field")} | {
        "language": language,
        "thousands": phrases.thousands,
        "decimal": phrases.decimal,
        "singular_below": phrases.singular_below,
        "expected_number": number_fault(phrases),
        "expected_whole": number_fault(phrases, whole=True),
        "with_unit": phrases.with_unit,
    }


def example_number(language: str) -> str:
    """Return a number as a language writes it."""
    return number_words(EXAMPLE, phrases_of(language))


def _field(feature: Feature, case: Case, read: Reading) -> dict[str, Any]:
    """Return a feature as the form shows it, with what was said of it; `echo` is what the text was read as."""
    phrases, name = phrases_of(case.spoken), feature.name
    text, own = (
        case.values.get(name, ""),
        {key: case.numbers.get((key, name), "") for key in NUMBERS},
    )
    is_number = feature.kind.is_number
    names = () if is_number else tuple(map(str, feature.places))
    listed = _choices(feature, names, text, phrases)
    changes = _changes(feature, case.actions.get(name, ""), phrases)
    only = [
        each._replace(chosen=each.value in case.only.get(name, ())) for each in listed[: len(names)]
    ]
    lifted = [kind for kind, whose in case.lifted if whose == name]
    chosen = any(each.chosen for each in (*changes[1:], *only))
    return {
        "feature": feature,
        "label": label_words(feature),
        "one_unit": unit_of_one(feature, phrases),
        "text": text,
        "echo": _echo(feature, read, phrases),
        "unknown": name in case.unknown,
        "is_number": is_number,
        "least_words": number_words(feature.minimum, phrases) if is_number else "",
        "most_words": number_words(feature.maximum, phrases) if is_number else "",
        "choices": listed,
        "changes": changes,
        "own": own,
        "usual_weight": number_words(feature.weight, phrases),
        # Empty where a change is usually no effort, twice of which is none either.
        "double_weight": number_words(2 * feature.weight, phrases) if feature.weight else "",
        "only": only,
        "lifted": lifted,
        "fault": read.faults.get(name, ""),
        "is_touched": chosen or any(own.values()) or bool(lifted),
    }


def _echo(feature: Feature, read: Reading, phrases: Phrases) -> str:
    value = read.state[feature.name]
    if value is None or not feature.kind.is_number:
        return ""
    return filled(phrases.pages["reads_as"], value=value_words(feature, value, phrases))


def _choices(
    feature: Feature, names: tuple[str, ...], text: str, phrases: Phrases
) -> tuple[Choice, ...]:
    listed = tuple(
        Choice(each, value_words(feature, value, phrases), each == text)
        for each, value in zip(names, feature.places if names else (), strict=True)
    )
    # What is not among the values is kept and shown, so that the fault can be seen and mended.
    odd = (Choice(text, text, chosen=True),) if names and text and text not in names else ()
    return (*listed, *odd)


def _changes(feature: Feature, given: str, phrases: Phrases) -> tuple[Choice, ...]:
    usual = feature.action.value
    offered = ["free", *(("up", "down") if feature.has_order else ()), "fixed"]
    if feature.governed:
        offered.append("effect")
    words = phrases.pages
    first = Choice("", words[f"change_{usual}"], chosen=not given)
    return (
        first,
        *(
            Choice(each, words[f"change_{each}"], each == given)
            for each in offered
            if each != usual
        ),
    )


def domain_words(feature: Feature, phrases: Phrases) -> str:
    """Say in a line which values a feature has."""
    match feature.domain:
        case Points(values):
            return ", ".join(value_words(feature, each, phrases) for each in values)
        case Grid(start, stop, step):
            ends = [value_words(feature, each, phrases) for each in (start, stop)]
            told = filled(phrases.pages["range"], least=ends[0], most=ends[1])
            if step == 1:
                return told
            return filled(
                phrases.pages["in_steps"], range=told, step=number_words(float(step), phrases)
            )
