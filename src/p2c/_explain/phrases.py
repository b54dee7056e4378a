"""What a language has to say: every word that a reader sees and that is not the problem's own, as one frozen value.

A language is data: a file such as `english.toml` for letters, reports and pictures, `english_pages.toml` for the workbench and
audits, and a line in `LANGUAGES`; no other code changes. Words in braces are filled in: `{label}`, `{value}` and the like keep
their names in every language. A clause has neither a capital at its start nor a full stop at its end; those are added
when it becomes a sentence. What ends in a full stop or a colon there is shown as it is.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING

from p2c.errors import check_word

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, eq=False)
class Phrases:
    """One language's phrases."""

    statement: str
    """What is said of a feature that has no `phrase` of its own."""
    unknown_statement: str
    """What is said of a feature whose value is missing."""
    relations: Mapping[str, str]
    """How a value stands to a constant, by the sign of the comparison, as words that follow the statement."""
    reached: Mapping[str, str]
    """What is said instead of a value that is the constant itself: not that 2 is at least 2."""
    unknown_relations: Mapping[str, str]
    """What a missing value does not count as."""
    goal_met: str
    goal_missed: str
    applies: str
    applies_not: str
    always: str
    left_out: str
    """What stands for reasons too deep or too many to be told."""
    decision: str
    decision_with: str
    exception: str
    conjunction: str
    full_stop: str
    with_unit: str
    units_of_one: Mapping[str, str]
    """The units that are common, each as it follows the number 1."""
    thousands: str
    decimal: str
    unknown: str
    """How a missing value is shown."""
    act: str
    """What the person does."""
    effect: str
    """What then happens by itself."""
    assumed: str
    effort: str
    proved_least: str
    """What was proved; `{by}` is filled in where the rules were learned, and empty otherwise."""
    proved_fewest: str
    already: str
    no_way: str
    lift: str
    """What would open a way."""
    no_lift: str
    not_explained: str
    restrictions: Mapping[str, str]
    """What each restriction says, as words that follow `that`."""
    restrictions_of_many: Mapping[str, str]
    """What each restriction says of anybody, in an audit."""
    excused_value: str
    """What is said of a value that the person has although the rules would not have it so."""
    excused_constraint: str
    gave_up: str
    nothing_found: str
    best_so_far: str
    agree_with: Mapping[str, str]
    """How far learned rules agree with what they were learned from, a model or labels, in words that follow "proved"."""
    learned_from: Mapping[str, str]
    """What rules were learned from, a model or labels, where no agreement was measured, in words that follow "proved"."""
    percent: str
    given_by: str
    rests_on_unknown: str
    """What is said of all the values that are missing."""
    language: str
    """The language's tag, as HTML names it."""
    disjunction: str
    further: str
    """What a sentence begins with that belongs to the one before it."""
    more_facts: str
    one_more_fact: str
    title: str
    """The heading of a person's own page; `title_answer` where there is no way to show."""
    title_answer: str
    headings: Mapping[str, str]
    """The heading of each part of the page."""
    title_follow_up: str
    follow_up_reached: str
    """How the rest of a plan stands after a part of it was done."""
    follow_up_cheapest: str
    follow_up_cheaper: str
    follow_up_valid: str
    follow_up_other: str
    follow_up_closed: str
    follow_up_unknown: str
    is_now: str
    is_instead: str
    verdict_no: str
    verdict_no_way: str
    verdict_yes: str
    one_reason: str
    several_reasons: str
    missing_for_yes: str
    several_ways: str
    yes_because: str
    unknown_value: str
    """What is said of each value that is missing."""
    one_step: str
    several_steps: str
    raise_value: str
    """What the person does to a number; `change_value` is for what has names, `set_value` for what was not known."""
    lower_value: str
    change_value: str
    set_value: str
    or_more: str
    """The values beyond a target that reach the goal as well."""
    or_less: str
    at_most: str
    at_least: str
    others_do: str
    follows: str
    """What then happens by itself, for readers without patience for rules."""
    follows_named: str
    follows_unknown: str
    computed_rises: str
    """How the value of an equation changes."""
    computed_falls: str
    because: str
    because_only: str
    """Why an effect happens to which no rule leads: the value that there was needs a rule that applies."""
    wait: str
    counts_on: str
    rest_stays: str
    rules_stay: str
    effects_follow: str
    odd_value: str
    odd_constraint: str
    without_step: str
    """What is said of a plan without one of its steps; the reason that stays comes after it."""
    without_step_stuck: str
    one_own_step: str
    """How many things a plan asks for, and which of them is the hardest."""
    own_steps: str
    hardest: str
    hardest_several: str
    equally_hard: str
    takes_more: str
    """What one step takes: more or less of a number, another value where values go by names, or any where none is known."""
    takes_less: str
    takes_change: str
    takes_value: str
    least_effort: str
    fewest_steps: str
    least_to_here: str
    nothing_to_do: str
    blocked: str
    opens_one: str
    opens_several: str
    rules_block: str
    not_found_out: str
    stopped: str
    stopped_share: str
    ended_time: str
    ended_nodes: str
    ended_queries: str
    """What is sure of every way, beside the best that was found."""
    stopped_without: str
    stopped_with: str
    model_confirms: str
    model_meets: str
    """What the model behind the rules said of the end of a plan, where there is one."""
    model_refuses: str
    model_not_asked: str
    model_asked: str
    model_asked_once: str
    model_not_proved: str
    model_reasons: str
    """What reasons are worth that come from rules in the place of a model."""
    model_forced: str
    model_forced_perhaps: str
    """What leads in the values that force a model to refuse, and what is said where they are not known."""
    model_says_no: str
    model_says_yes: str
    model_unexplained: str
    """What is said where rules in the place of a model decide otherwise than the model."""
    picture: Mapping[str, str]
    """The words of the picture: its columns, its legend, and how it is told to those who do not see it."""
    pages: Mapping[str, str]
    """The words of the workbench: its form, its answers and the way around it."""
    findings: Mapping[str, str]
    """The messages about suspicious parts of a problem."""
    audit: Mapping[str, str]
    """The words of an audit of many people."""
    notice: Mapping[str, str]
    """The words of the frame of a letter and of its data sheet.

    `month_1` to `month_12` are the months.
    """
    graph: Mapping[str, str]
    """The words of the causal graph: who may change a feature, its legend, and how it is told."""
    expert: Mapping[str, str]
    """The words of the report for an expert."""
    columns: Mapping[str, str]
    """The words of relations between features that data suggest, by their kinds."""
    rules: Mapping[str, str]
    """The words of a rule and of the three laws: comparisons under their signs, and what holds of somebody's effect."""


def _read(name: str) -> Phrases:
    """Return a language from its two files."""
    folder = resources.files("p2c._explain")
    files = (folder.joinpath(f"{name}{part}.toml") for part in ("", "_pages"))
    letters, pages = (tomllib.loads(each.read_text(encoding="utf-8")) for each in files)
    return Phrases(**letters, **pages)


ENGLISH, GERMAN = _read("english"), _read("german")
LANGUAGES: Mapping[str, Phrases] = MappingProxyType({"en": ENGLISH, "de": GERMAN})


def phrases_of(language: str) -> Phrases:
    """Return the catalogue of a language, named as in HTML: `en`, `de`."""
    check_word("language: no catalogue", language, LANGUAGES)
    return LANGUAGES[language]
