"""FOLD-SE as a scikit-learn classifier: frames or arrays in, a short logic program out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from p2c._learn.foldse.columns import as_table, check_names, encode_table, read_weights
from p2c._learn.foldse.induce import (
    class_shares,
    decided_rows,
    features_read,
    first_rule,
    learn_rule_list,
    learn_rules,
    prepare,
    rule_quality,
)
from p2c._learn.foldse.literals import simplify, to_program
from p2c._markup import element
from p2c._rules.render import render
from p2c.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from p2c._learn.foldse.columns import CodedColumn, Mask, Weights
    from p2c._learn.foldse.literals import LearnedRule
    from p2c._rules.syntax import Program


class FoldSE(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learn a few default rules with exceptions from numbers, strings and missing values as they are.

    Of two classes, `positive` (the second of `classes_` unless named) is the one that the rules define; the other
    holds where no rule does. Of several, the rules are read in order and the first that holds decides; where none
    does, the most frequent class among the training rows that no rule covers.

    `ratio` is how many negatives for one positive a rule may cover before its exceptions are sought. `tail` is the
    share of the training rows that a rule must cover in positives; below it, learning ends. `target` names the
    predicate of the class in `program_`.

    Fitted: `classes_`; `rules_` as values, with `qualities_` (support, precision, recall) and `shares_` (of each class,
    a row for each rule and one for the default) beside them; `default_`, the class where no rule holds; `program_`,
    the rules as text; `n_features_in_` and, for frames, `feature_names_in_`.

    >>> import pandas as pd
    >>> animals = {"class": ["bird", "bird", "cat", "bird"], "kind": ["jay", "owl", "puma", "penguin"]}
    >>> table, flies = pd.DataFrame(animals), ["yes", "yes", "no", "no"]
    >>> model = FoldSE(target="flies").fit(table, flies)
    >>> print(model.program_)
    flies(X,'yes') :- class(X,'bird'), not kind(X,'penguin').
    """

    def __init__(
        self,
        ratio: float = 0.5,
        tail: float = 0.005,
        *,
        positive: Any = None,
        target: str = "label",
    ) -> None:
        self.ratio = ratio
        self.tail = tail
        self.positive = positive
        self.target = target

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the rules; a row of weight 3 counts as three rows, one of weight 0 is not there.

        >>> FoldSE(tail=0.1).fit(table, flies).default_
        'no'
        """
        self._check_settings()
        table = as_table(X)
        labels = self._read_labels(y)
        check_consistent_length(table, labels)
        weights = read_weights(sample_weight, len(labels))
        validate_data(self, table, reset=True, skip_check_array=True)
        check_names(self._names, target=self.target)
        if weights is not None:
            there = weights > 0
            table, labels, weights = table[there], labels[there], weights[there]
        columns = encode_table(table, self._names)
        self.rules_ = self._learn(columns, labels, weights)
        self._measure(columns, labels, weights)
        self.program_ = render(self.to_program())
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row.

        >>> model.predict(table).tolist()
        ['yes', 'yes', 'no', 'no']
        """
        verdicts = self._verdicts(X)
        labels = [*(rule.label for rule in self.rules_), self.default_]
        places = np.array([self._place(label) for label in labels])
        return np.asarray(self.classes_[places[verdicts]])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return for each row the shares of the classes among the training rows that the same rule decides.

        The share of the predicted class is that rule's precision; where another class had as many rows, the predicted
        one is put just above it.

        >>> model.predict_proba(table)[0].tolist()
        [0.0, 1.0]
        """
        verdicts = self._verdicts(X)
        return np.asarray(self.shares_[verdicts])

    def to_program(self, *, decimals: int | None = 3) -> Program:
        """Return the rules as a syntax tree, thresholds rounded as in `program_` or, with None, exact.

        >>> len(model.to_program().rules)
        1
        """
        return to_program(self.rules_, target=self.target, decimals=decimals)

    def _repr_html_(self) -> str:
        return _model_html(self) if hasattr(self, "rules_") else str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    @property
    def _names(self) -> list[str]:
        named = getattr(self, "feature_names_in_", None)
        return (
            [f"x{place}" for place in range(self.n_features_in_)] if named is None else list(named)
        )

    def _check_settings(self) -> None:
        if self.ratio < 0:
            raise ValueError(f"ratio={self.ratio!r} is below 0: give a share such as 0.5")
        if not 0 <= self.tail < 1:
            raise ValueError(
                f"tail={self.tail!r} is not a share of the rows: give one such as 0.005"
            )

    def _read_labels(self, y: Any) -> NDArray[np.intp]:
        if y is None:
            raise ValueError("FoldSE requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        places, distinct = pd.factorize(y)
        distinct = np.asarray(distinct, dtype=y.dtype)
        check_classification_targets(distinct)
        self.classes_, ranks = np.unique(distinct, return_inverse=True)
        if self.positive is not None and self.positive not in self.classes_:
            known = ", ".join(repr(label) for label in self.classes_.tolist())
            raise ValueError(f"positive={self.positive!r} is not a class: the classes are {known}")
        if self.positive is not None and len(self.classes_) > 2:
            raise ValueError(
                f"positive={self.positive!r} names one of two classes, but y has {len(self.classes_)}: "
                "leave it out, or tell y apart into that class and the rest"
            )
        return np.asarray(ranks[places])

    def _place(self, label: Any) -> int:
        return int(np.searchsorted(self.classes_, label))

    def _learn(
        self, columns: Mapping[str, CodedColumn], labels: NDArray[np.intp], weights: Weights | None
    ) -> tuple[LearnedRule, ...]:
        learned: list[tuple[int, LearnedRule]] = []
        task = prepare(columns, len(labels), ratio=self.ratio, tail=self.tail, weights=weights)
        if len(self.classes_) > 2:
            learned += learn_rule_list(task, labels)
        elif len(self.classes_) == 2:
            place = 1 if self.positive is None else self._place(self.positive)
            learned += [(place, rule) for rule in learn_rules(task, labels == place)]
        names = self.classes_.tolist()
        return tuple(simplify(replace(rule, label=names[place])) for place, rule in learned)

    def _default(self, undecided: Mask, labels: NDArray[np.intp], weights: Weights | None) -> int:
        if len(self.classes_) == 2:
            return 0 if self.positive is None else 1 - self._place(self.positive)
        left = undecided if undecided.any() else np.ones(len(labels), dtype=bool)
        heavy = None if weights is None else weights[left]
        return int(np.argmax(np.bincount(labels[left], weights=heavy)))

    def _measure(
        self, columns: Mapping[str, CodedColumn], labels: NDArray[np.intp], weights: Weights | None
    ) -> None:
        count = len(self.classes_)
        decided = decided_rows(self.rules_, columns, len(labels), ordered=count > 2)
        default = self._default(decided[-1], labels, weights)
        places = [*(self._place(rule.label) for rule in self.rules_), default]
        pairs = list(zip(decided, places, strict=True))
        self.default_ = self.classes_.tolist()[default]
        self.qualities_ = tuple(
            rule_quality(rows, labels == place, weights) for rows, place in pairs[:-1]
        )
        shares = [
            class_shares(rows, labels, label=place, count=count, weights=weights)
            for rows, place in pairs
        ]
        self.shares_ = np.array(shares)

    def _verdicts(self, X: Any) -> NDArray[np.intp]:
        check_is_fitted(self)
        table = as_table(X)
        validate_data(self, table, reset=False, skip_check_array=True)
        columns = encode_table(table, self._names, needed=features_read(self.rules_))
        return first_rule(self.rules_, columns, len(table))


def _model_html(model: FoldSE) -> str:
    """Return a fitted model as a table of its rules, how each fares on the rows it was learned from, and its program."""
    titles = ("rule for", "rows", "precision", "recall")
    head = element("tr", None, *(element("th", None, title) for title in titles))
    rows = [
        element(
            "tr",
            None,
            element("td", None, str(rule.label)),
            element("td", None, f"{quality.support:,}"),
            element("td", None, f"{quality.precision:.1%}"),
            element("td", None, f"{quality.recall:.1%}"),
        )
        for rule, quality in zip(model.rules_, model.qualities_, strict=True)
    ]
    program = [line for line in model.program_.splitlines() if line]
    default = element("p", None, f"otherwise: {model.default_}")
    lines = element("ol", None, *(element("li", None, element("code", None, x)) for x in program))
    title = element("strong", None, f"FoldSE, {counted(len(model.rules_), 'rule')}")
    return str(element("div", None, title, element("table", None, head, *rows), default, lines))
