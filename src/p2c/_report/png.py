"""Render drawings as PNG.

They are drawn by resvg in a font that comes with the extra `report`, so that a machine without fonts draws the same.
"""

from __future__ import annotations

from pathlib import Path

from p2c.errors import MissingExtra

FACES = ("Regular", "It", "Semibold", "Bold", "BoldIt")
ZOOM = 2.0
"""Pixels for each unit of the drawing, enough for paper and for fine screens."""


def png(svg: str, *, zoom: float = ZOOM) -> bytes:
    """Return an SVG drawing as the bytes of a PNG file.

    Letters that the font lacks are drawn in a font of the system.
    """
    try:
        from resvg_py import svg_to_bytes
    except ModuleNotFoundError as error:
        raise MissingExtra("resvg-py", extra="report") from error
    files = [str(font_file(face)) for face in FACES]
    return bytes(
        svg_to_bytes(
            svg_string=svg,
            zoom=zoom,
            font_files=files,
            font_family="Source Sans Pro",
            sans_serif_family="Source Sans Pro",
        )
    )


def font_file(face: str) -> Path:
    """Return the path of a face of the font."""
    try:
        import font_source_sans_pro
    except ModuleNotFoundError as error:
        raise MissingExtra("font-source-sans-pro", extra="report") from error
    return Path(font_source_sans_pro.font_directory) / f"SourceSansPro-{face}.ttf"
