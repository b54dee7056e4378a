"""The shipped files are the published ones, byte for byte."""

from __future__ import annotations

import hashlib

import pytest

from p2c.datasets import raw_bytes

PUBLISHED = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "german.data": "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    "car.data": "b703a9ac69f11e64ce8c223c0a40de4d2e9d769f7fb20be5f8f2e8a619893d83",
}


@pytest.mark.parametrize("file", PUBLISHED)
def test_a_shipped_file_has_the_published_digest(file: str) -> None:
    assert hashlib.sha256(raw_bytes(file)).hexdigest() == PUBLISHED[file]
