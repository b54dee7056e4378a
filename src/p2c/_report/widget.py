"""A widget for notebooks: a knob for each value of a person and for what they can change, and the plan, made anew at each turn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from p2c._explain.phrases import phrases_of
from p2c._explain.sentences import label_words, value_words
from p2c._markup import element
from p2c._spec.feature import Grid, in_language
from p2c.errors import MissingExtra, P2CError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from p2c._explain.phrases import Phrases
    from p2c._plan.outcome import Plan
    from p2c._spec.feature import Feature
    from p2c._spec.row import State

SCRIPT = Path(__file__).with_suffix(".js")
SLIDABLE = 200
"""How many values a slider may have; a field for numbers stands for more."""
WORDS = {
    "fixed": "change_fixed",
    "min": "not_below",
    "max": "not_above",
    "unknown": "compare_unknown",
}
"""What is written beside the knobs, by its name among the phrases of pages."""


def plan_widget(
    features: Sequence[Feature],
    person: State,
    ask: Callable[[Mapping[str, Any], Mapping[str, Any]], Plan],
    *,
    language: str = "en",
) -> Any:
    """Return a widget on a person; `ask` plans for a row and restrictions as they are turned to."""
    try:
        import anywidget
        import traitlets
    except ModuleNotFoundError as error:
        raise MissingExtra("anywidget", extra="notebook") from error
    phrases = phrases_of(language)
    shown = [_knob(in_language(each, language), person, phrases) for each in features]

    class PlanWidget(anywidget.AnyWidget):  # type: ignore[misc]
        """The knobs, what they are turned to (`row`, `restrict`), and the plan: `plan`, as a page `html`."""

        _esm = SCRIPT
        knobs = traitlets.List(shown).tag(sync=True)
        words = traitlets.Dict({name: phrases.pages[key] for name, key in WORDS.items()}).tag(
            sync=True
        )
        row = traitlets.Dict().tag(sync=True)
        restrict = traitlets.Dict().tag(sync=True)
        html = traitlets.Unicode().tag(sync=True)
        plan: Plan | None = None

        @traitlets.observe("row", "restrict")  # type: ignore[untyped-decorator]
        def plan_again(self, _change: Any) -> None:
            """Plan for what the knobs say now; what cannot be planned is said in the plan's place."""
            try:
                self.plan = ask(self.row, self.restrict)
            except P2CError as error:
                self.plan, self.html = None, str(element("p", None, str(error)))
                return
            renderer = self.plan.question.renderer
            assert renderer is not None, "a problem's plans tell themselves"
            self.html = renderer.html(self.plan, language=language)

    return PlanWidget(row=dict(person))


def _knob(feature: Feature, person: State, phrases: Phrases) -> dict[str, Any]:
    """Return what a knob shows: a list of names, a slider over few numbers, or a field for any."""
    domain, value = feature.domain, person[feature.name]
    names = () if feature.kind.is_number else feature.places
    few = isinstance(domain, Grid) and domain.size <= SLIDABLE
    return {
        "name": feature.name,
        "label": label_words(feature),
        "unit": feature.unit,
        "choices": [[each, value_words(feature, each, phrases)] for each in names],
        "min": feature.minimum,
        "max": feature.maximum,
        "step": domain.step if isinstance(domain, Grid) else "any",
        "slider": few and value is not None and feature.contains(value),
        "direct": feature.action.is_direct,
    }
