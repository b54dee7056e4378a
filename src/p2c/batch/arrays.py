"""Numbers and texts between numpy and pyarrow, by the memory that they lie in.

pyarrow's own ways from and to Python, such as `pa.array` and `to_numpy`, load pandas where it is installed, which takes
as long as planning for a million people.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c.plan.tables.encode import Column


def to_numbers(array: pa.Array) -> Column:
    """Return whole numbers or floats, none of them missing, as they lie in memory."""
    return np.from_dlpack(array)


def to_array(numbers: Column, known: Column | None = None) -> pa.Array:
    """Return numbers as they lie in memory; those that are not known are missing."""
    kind = pa.from_numpy_dtype(numbers.dtype)
    marks = None
    if known is not None and not known.all():
        marks = pa.py_buffer(np.packbits(known, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(kind, len(numbers), [marks, data])


def to_texts(texts: Sequence[str]) -> pa.Array:
    """Return texts, none of them missing."""
    cells = [text.encode() for text in texts]
    ends = np.fromiter(accumulate(map(len, cells), initial=0), dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(cells), pa.py_buffer(ends), pa.py_buffer(b"".join(cells))
    )
