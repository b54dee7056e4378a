"""A relation between features in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p2c._explain.sentences import as_sentence, filled, number_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._explain.phrases import Phrases
    from p2c._learn.relations.relation import Relation


def relation_words(
    relation: Relation, text: str, features: Mapping[str, Mapping[str, Any]], phrases: Phrases
) -> str:
    """Return a relation as a sentence.

    Args:
        relation: The candidate.
        text: Its text, or an edited one.
        features: The keys of each feature, which may have a label.
        phrases: The language.
    """
    first, *others = (column_label(name, features) for name in relation.features)
    said = filled(
        phrases.columns[relation.kind.value],
        first=first,
        others=", ".join(others),
        text="; ".join(text.splitlines()),
    )
    return as_sentence(said, phrases)


def column_label(name: str, features: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the label of a feature."""
    return str(features.get(name, {}).get("label") or name.replace("_", " "))


def evidence_words(relation: Relation, phrases: Phrases) -> str:
    """Return the rows for a relation as a sentence."""
    if not relation.rows:
        key = "by_graph" if relation.kind.value == "effect" else "by_name"
        return as_sentence(phrases.columns[key], phrases)
    counts = {
        "some": number_words(relation.holds, phrases),
        "all": number_words(relation.rows, phrases),
    }
    return as_sentence(filled(phrases.columns["holds"], **counts), phrases)
