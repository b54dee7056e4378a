"""The picture of a plan: what is where, told apart without colour, and readable by machines and by those who do not see."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given, settings

from p2c import P2CError, Problem, datasets
from p2c._plan.outcome import CausalAction, DirectAction
from p2c._report.canvas import DARK, LIGHT, text_width, wrap
from p2c._report.picture import plan_svg
from p2c._report.plan_layout import Arrow, Sort, lay_out
from tests.embedded import embedded
from tests.loan import JOHN, LOAN, category, whole
from tests.strategies import problems
from website.pictures import FOLDER, pictures

SVG = "{http://www.w3.org/2000/svg}"
JOHN_ROW = datasets.rows("loan")["john"]


def drawn(svg: str) -> ET.Element:
    return ET.fromstring(svg)


def words(svg: str) -> list[str]:
    return ["".join(each.itertext()) for each in drawn(svg).iter(f"{SVG}text")]


def chain(count: int) -> tuple[Problem, dict[str, Any]]:
    """Return a problem in which so many things have to be done one after the other, and a person."""
    features = {
        f"f{n}": category("no", "yes", label=f"the thing with number {n}") for n in range(count)
    }
    goal = ", ".join(f"f{n}(X,'yes')" for n in range(count))
    row = dict.fromkeys(features, "no")
    return Problem.from_dict({"goal": goal, "rules": "", "features": features}), row


def test_states_are_columns_and_changed_features_are_rows() -> None:
    problem = embedded("loan")
    layout = lay_out(problem.theory, problem.plan(JOHN_ROW))
    assert layout.columns == ("Now", "Step 1", "Step 2")
    assert layout.rows == ("debt", "credit score", "bank balance")
    table = {(cell.row, cell.column): (cell.text, cell.sort, cell.number) for cell in layout.cells}
    assert table == {
        (0, 0): ("5,000 dollars", Sort.START, None),
        (0, 1): ("0 dollars", Sort.DIRECT, 1),
        (0, 2): ("0 dollars", Sort.STAYS, None),
        (1, 0): ("599 points", Sort.START, None),
        (1, 1): ("620 points", Sort.EFFECT, None),
        (1, 2): ("620 points", Sort.STAYS, None),
        (2, 0): ("40,000 dollars", Sort.START, None),
        (2, 1): ("40,000 dollars", Sort.STAYS, None),
        (2, 2): ("60,000 dollars", Sort.DIRECT, 2),
    }
    assert layout.arrows == (Arrow((0, 1), (1, 1)),)


def test_actions_and_effects_differ_in_shape_and_not_only_in_colour() -> None:
    root = drawn(embedded("loan").plan(JOHN_ROW).to_svg())
    boxes = [
        each
        for each in root.iter(f"{SVG}rect")
        if each.get("height") == root.findall(f".//{SVG}rect[@stroke-dasharray]")[0].get("height")
    ]
    dashed = [each for each in boxes if each.get("stroke-dasharray")]
    solid = [each for each in boxes if "p2c-f-direct" in (each.get("class") or "")]
    assert len(dashed) == 1
    assert len(solid) == 2
    assert {each.get("rx") for each in dashed}.isdisjoint({each.get("rx") for each in solid})
    italics = [each for each in root.iter(f"{SVG}text") if each.get("font-style") == "italic"]
    assert ["".join(each.itertext()) for each in italics] == ["620 points"]
    assert len(list(root.iter(f"{SVG}circle"))) == 2


def test_the_picture_tells_itself_to_those_who_do_not_see_it() -> None:
    root = drawn(embedded("loan").plan(JOHN_ROW).to_svg(language="de"))
    assert root.get("role") == "img"
    assert root.get("lang") == "de"
    title, told = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert title.text == "Der Weg zum Ja, Schritt für Schritt"
    assert told is not None
    assert told.text == (
        "Sie ändern Schulden: jetzt 5.000 Dollar, dann 0 Dollar. "
        "Kreditwürdigkeit ändert sich dann von selbst: erst 599 Punkte, dann 620 Punkte. "
        "Sie ändern Kontostand: jetzt 40.000 Dollar, dann 60.000 Dollar."
    )


def test_themes_differ_in_colours_only_and_auto_brings_both() -> None:
    plan = embedded("loan").plan(JOHN_ROW)
    light, dark, auto = (plan.to_svg(theme=theme) for theme in ("light", "dark", "auto"))
    plain = [re.sub(r'"#[0-9a-f]{6}"', '""', svg) for svg in (light, dark)]
    assert plain[0] == plain[1]
    assert not set(re.findall(r"#[0-9a-f]{6}", dark)) - set(DARK.values())
    assert not set(re.findall(r"#[0-9a-f]{6}", light)) - set(LIGHT.values())
    assert "prefers-color-scheme:dark" in auto
    with pytest.raises(
        P2CError, match="theme: there is no 'sepia'; known: 'auto', 'dark', 'light'"
    ):
        plan.to_svg(theme="sepia")


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colours", [LIGHT, DARK])
@pytest.mark.parametrize(
    ("text", "ground"),
    [
        ("text", "ground"), ("muted", "ground"), ("muted", "goal"), ("goal-text", "goal"), ("text", "goal"),
        ("direct-text", "direct"), ("effect-text", "effect"), ("muted", "effect"), ("text", "effect"),
    ],
)  # fmt: skip
def test_every_text_stands_out_from_its_ground(
    colours: dict[str, str], text: str, ground: str
) -> None:
    lights = sorted(luminance(colours[each]) for each in (text, ground))
    assert (lights[1] + 0.05) / (lights[0] + 0.05) >= 4.5


@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_plans_of_any_length_have_a_column_for_each_step(count: int) -> None:
    problem, row = chain(count)
    shown = words(plan_svg(problem.theory, problem.plan(row), shape="wide"))
    assert [f"Step {n}" for n in range(1, count)] == [
        w for w in shown if w.startswith("Step") and "✓" not in w
    ]
    assert f"Step {count}: yes ✓" in shown


def width(svg: str) -> float:
    return float(drawn(svg).attrib["width"])


def test_a_plan_of_many_steps_is_drawn_down_the_page() -> None:
    """Twenty states side by side would be 3,600 pixels wide, and nothing in them could be read."""
    problem, row = chain(20)
    svg = problem.plan(row).to_svg()
    assert width(svg) < 400
    shown = words(svg)
    assert [f"Step {n}" for n in range(1, 21)] == [w for w in shown if w.startswith("Step")]
    assert "yes ✓" in shown
    tops = [float(each.attrib["y"]) for each in drawn(svg).iter(f"{SVG}rect")]
    assert tops == sorted(tops)


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_tall_picture_says_what_the_wide_one_says(language: str) -> None:
    problem = embedded("loan")
    plan = problem.plan(JOHN_ROW)
    tall = plan_svg(problem.theory, plan, shape="tall", language=language)
    assert width(tall) < 390
    assert "→" in " ".join(words(tall))
    wide = plan_svg(problem.theory, plan, shape="wide", language=language)
    told = [drawn(each).find(f"{SVG}desc") for each in (tall, wide)]
    assert told[0] is not None
    assert told[1] is not None
    assert told[0].text == told[1].text
    assert tall.count("stroke-dasharray") == 1


def test_a_shape_that_is_not_there_is_refused() -> None:
    problem = embedded("loan")
    with pytest.raises(P2CError, match="shape: there is no 'round'"):
        plan_svg(problem.theory, problem.plan(JOHN_ROW), shape="round")


def test_plans_without_steps_are_a_line_of_words() -> None:
    problem = Problem.from_dict(LOAN | {"goal": "age(X,N), N>=18"})
    assert words(problem.plan(JOHN).to_svg()) == ["Nothing has to change."]
    assert words(problem.plan(JOHN | {"age": 9}).to_svg()) == ["There is no way to show."]


def test_long_words_are_broken_and_kept_whole_for_those_who_ask() -> None:
    label = "Donaudampfschifffahrtsgesellschaftskapitän " * 4
    problem = Problem.from_dict(
        {"goal": "a(X,N), N>3", "rules": "", "features": {"a": whole(0, 9, label=label)}}
    )
    root = drawn(problem.plan({"a": 1}).to_svg())
    assert any((each.text or "").strip() == label.strip() for each in root.iter(f"{SVG}title"))
    for line in root.iter(f"{SVG}tspan"):
        assert text_width(line.text or "", 14) < 200


@pytest.mark.parametrize(
    "text", ["", "a", "a b c", "x" * 500, "a-b/c_" * 90, "漢" * 80, "e\u0301" * 60]
)
def test_wrapped_lines_fit(text: str) -> None:
    lines = wrap(text, 100, 14)
    assert 1 <= len(lines) <= 3
    assert all(text_width(line, 14) <= 100 for line in lines)
    assert "".join(wrap(text, 100, 14, most=999)).replace(" ", "") == text.replace(" ", "")


@given(problems())
@settings(max_examples=40, deadline=None)
def test_every_action_is_on_the_board_and_every_arrow_leads_from_a_change_to_an_effect(
    world: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    data, row = world
    problem = Problem.from_dict(data | {"exceptions": "abduce"})
    plan = problem.plan(row)
    layout = lay_out(problem.theory, plan)
    sorts = {(cell.row, cell.column): cell.sort for cell in layout.cells}
    actions = [(n, a) for n, step in enumerate(plan.steps, start=1) for a in step.actions]
    names = list(dict.fromkeys(a.feature for _, a in actions))
    last = {(names.index(a.feature), n): a for n, a in actions}
    for place, action in last.items():
        assert sorts[place] is (Sort.DIRECT if isinstance(action, DirectAction) else Sort.EFFECT)
    for arrow in layout.arrows:
        assert sorts[arrow.source] in (Sort.DIRECT, Sort.EFFECT)
        assert any(
            (names.index(a.feature), n) == arrow.target
            for n, a in actions
            if isinstance(a, CausalAction)
        )
        assert arrow.source[1] <= arrow.target[1]


def test_the_pictures_of_the_documentation_are_those_of_today() -> None:
    stored = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.svg")}
    assert stored == {name: f"{svg}\n" for name, svg in pictures().items()}
