"""What every page of haichi must be: well formed, and sufficient to itself."""

from __future__ import annotations

from html.parser import HTMLParser


class Checker(HTMLParser):
    """Notes elements left open, addresses, inline handlers, ids, links and table cells."""

    VOID = frozenset({"meta", "link", "br", "hr", "img", "input"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.unscoped = 0
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.note(tag, dict(attrs))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.note(tag, dict(attrs))
        if tag not in self.VOID:
            self.open.append(tag)

    def note(self, tag: str, attributes: dict[str, str | None]) -> None:
        for name, value in attributes.items():
            if name == "href" and value and value.startswith("#"):
                self.links.append(value[1:])
            elif name in ("href", "src", "xlink:href", "action", "data", "srcset"):
                self.addresses.append(value or "")
            elif name.startswith("on"):
                self.handlers.append(name)
            elif name == "id":
                self.ids.append(value or "")
        self.unscoped += tag == "th" and "scope" not in attributes

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text.append(data)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()
