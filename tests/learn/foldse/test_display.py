"""A FOLD-SE model in a notebook: its rules and how they fare, every word escaped."""

from __future__ import annotations

import pandas as pd

from p2c._learn.foldse import FoldSE

ANIMALS = pd.DataFrame(
    {"class": ["bird", "bird", "cat", "bird"], "kind": ["jay", "owl", "puma", "<b>penguin"]}
)


def test_a_fitted_model_shows_its_rules_and_their_qualities() -> None:
    model = FoldSE(target="flies").fit(ANIMALS, ["yes", "yes", "no", "no"])
    shown = model._repr_mimebundle_()["text/html"]
    assert shown == model._repr_html_()
    assert "<td>yes</td><td>2</td><td>100.0%</td><td>100.0%</td>" in shown
    assert (
        "flies(X,&#x27;yes&#x27;) :- class(X,&#x27;bird&#x27;), not kind(X,&#x27;&lt;b&gt;penguin&#x27;)."
        in shown
    )
    assert "<p>otherwise: no</p>" in shown
    assert "<b>" not in shown


def test_a_model_without_rules_yet_shows_itself_as_scikit_learn_does() -> None:
    assert "FoldSE" in FoldSE()._repr_html_()
