"""What is said of text that is no TOML or JSON: the place, and what to write instead of a common slip."""

from __future__ import annotations

import json
import tomllib

import pytest

from p2c._spec.misread import misread

NAME = "Expecting property name enclosed in double quotes"
NEWLINE = "Expected newline or end of document after a statement"

# fmt: off
SLIPS = [
    ("a = 1\nstep = 0,5", f"line 2, column 9: {NEWLINE} (write decimals with a point, 0.5)"),
    ("max = 20,000", f"line 1, column 9: {NEWLINE} (write thousands without a comma, 20000, and decimals with a point, 20.000)"),
    ("type = int", 'line 1, column 8: Invalid value (write text in quotes, "int")'),
    ("values = [flat, farm]", 'line 1, column 11: Invalid value (write text in quotes, "flat")'),
    ("unit = “years”", 'line 1, column 8: Invalid value (write text in straight quotes, "…")'),
    ("a = 1 b = 2", f"line 1, column 7: {NEWLINE}"),
    ("a = 1,5 # 2", f"line 1, column 6: {NEWLINE} (write decimals with a point, 1.5)"),
    ("a = [", "Invalid value (at end of document)"),
    ('{"a": 1,\n "b": 1250,5}', f"line 2, column 12: {NAME} (write decimals with a point, 1250.5)"),
    ("{'a': 1}", f'line 1, column 2: {NAME} (write text in double quotes, "…")'),
    ('{"a": yes}', 'line 1, column 7: Expecting value (write text in quotes, "yes")'),
    ('{"a": [1,5], "b" 2}', "line 1, column 18: Expecting ':' delimiter"),
]
# fmt: on


@pytest.mark.parametrize(("text", "message"), SLIPS)
def test_a_slip_is_named_by_its_place_and_by_what_to_write(text: str, message: str) -> None:
    with pytest.raises((json.JSONDecodeError, tomllib.TOMLDecodeError)) as caught:
        (json if text.startswith("{") else tomllib).loads(text)
    assert misread(caught.value, text) == message


@pytest.mark.parametrize("text", ['{"a": 1,}', '{"a": [1,]}', '{"a": 1, }'])
def test_a_comma_at_the_end_is_said_to_be_one_too_many(text: str) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(text)
    message = misread(caught.value, text)
    assert message.startswith("line 1, column ")
    assert "leave that out" in message or "trailing comma" in message
