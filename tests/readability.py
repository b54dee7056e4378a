"""How easy a sentence is to read: Flesch's reading ease, 206.835 - 1.015 words - 84.6 syllables a word.

Syllables are counted as groups of vowels, less a silent e; a number counts as one word of one syllable, as in the usual
tools. Sixty and more is plain English.
"""

from __future__ import annotations

import re

WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|-?\d[\d.,]*")
END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z“])")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [each for each in END.split(text) if each]


def syllables(word: str) -> int:
    """Return about how many syllables a word has."""
    letters = word.lower().removesuffix("'s")
    if not letters[0].isalpha():
        return 1
    groups = len(re.findall(r"[aeiouy]+", letters))
    groups += len(re.findall(r"[iu]a|io(?!n)", letters))  # di-al, du-al, ri-ot
    silent = re.search(r"[^aeiouyl]e$|[^aeiouytd]ed$|[^aeiouyscgzx]es$", letters)
    return max(groups - bool(silent), 1)


def reading_ease(sentence: str) -> float:
    """Return Flesch's reading ease of one sentence."""
    words = WORD.findall(sentence)
    count = sum(map(syllables, words))
    return 206.835 - 1.015 * len(words) - 84.6 * count / len(words)
