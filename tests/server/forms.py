"""The form of a page, filled in as a browser would send it."""

from __future__ import annotations

from html.parser import HTMLParser

Pair = tuple[str, str | None]


class _Reader(HTMLParser):
    def __init__(self, action: str) -> None:
        super().__init__()
        self.action, self.is_inside = action, False
        self.fields: dict[str, str] = {}
        self.select = ""
        self.option: dict[str, str | None] | None = None

    def handle_starttag(self, tag: str, attrs: list[Pair]) -> None:
        keys = dict(attrs)
        if tag == "form":
            self.is_inside = (keys.get("action") or "").startswith(self.action)
        if not self.is_inside:
            return
        name = keys.get("name") or ""
        is_ticked = keys.get("type") not in {"checkbox", "radio", "file"} or "checked" in keys
        if tag == "input" and name and is_ticked:
            self.fields[name] = keys.get("value") or ""
        elif tag == "select":
            self.select = name
        elif tag == "option":
            self.option = keys

    def handle_data(self, data: str) -> None:
        if self.option is not None:
            value = self.option.get("value", data.strip()) or ""
            if "selected" in self.option or self.select not in self.fields:
                self.fields[self.select] = value
            self.option = None


def form_of(page: str, action: str) -> dict[str, str]:
    """Return the untouched fields of the form that goes to an address."""
    reader = _Reader(action)
    reader.feed(page)
    return reader.fields
