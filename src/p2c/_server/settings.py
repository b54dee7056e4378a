"""What a server is started with: the files that it serves, who may talk to it, and how much it takes on."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from p2c.errors import P2CError

VARIABLE = "P2C_SERVER"
"""The environment variable through which server processes learn their settings."""


def _physical_memory() -> int:
    """Return the bytes of memory of this machine, 8 GB where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8_000_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is taken on before a request is refused."""

    body: int = 1_000_000
    """Bytes of a request's body."""
    upload: int = 500_000_000
    """Bytes of a table and a model sent to a project, and of a table of people to audit."""
    unpacked: int = 2_000_000_000
    """Bytes that an upload may declare to unpack to."""
    rows: int = 2_000_000
    """Rows of an uploaded table."""
    columns: int = 4_000
    """Columns of an uploaded table, each of which has fields in a form."""
    memory: int = field(default_factory=lambda: min(4_000_000_000, _physical_memory() // 2))
    """Bytes of memory of a process that reads an upload, or works on one."""
    head: int = 65_536
    """Bytes of a request's address and headers."""
    reading: float = 30.0
    """Seconds in which a request has to arrive whole."""
    plans: int = 100
    """The largest k."""
    seconds: float = 10.0
    """How long one solve may take."""
    solvers: int = field(default_factory=lambda: os.cpu_count() or 1)
    """How many questions are solved at once, each in a process of its own."""
    waiting: int = 64
    """How many more questions may wait for a solver; the next one is answered 503."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A server's settings; without problems, it serves those that come with the package.

    `rows` are pairs of a problem's file and a file of people to pick from; `pages` is False for the service alone,
    `project` the folder of a project that is being made in the browser, `audits` one for the people of audits and their reports,
    `states` a file for the states of pages that several processes share, `lender` the lender's file for letters and notices,
    `register` the file in which notices are recorded.

    Attributes:
        proxy: Addresses or networks of trusted proxies, with commas between them; empty for this machine.
        user_header: The header in which a trusted proxy names the user; empty without such a login.
        users: A file of users and their roles; without one, each user is a viewer.
        hosts: Names of this server in addresses besides those of this machine.
        root: The path under which a proxy serves the pages, such as "/p2c"; the proxy removes it.
    """

    problems: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()
    reviews: tuple[str, ...] = ()
    data: str = ""
    project: str = ""
    audits: str = ""
    states: str = ""
    lender: str = ""
    register: str = ""
    proxy: str = ""
    user_header: str = ""
    users: str = ""
    hosts: tuple[str, ...] = ()
    root: str = ""
    host: str = "127.0.0.1"
    port: int = 8000
    token: str = ""
    pages: bool = True
    limits: Limits = field(default_factory=Limits)

    @property
    def is_local(self) -> bool:
        """Tell whether only this machine can connect."""
        return is_loopback(self.host)

    @property
    def open_reviews(self) -> tuple[str, ...]:
        """Return the reviews there are, that of the project among them once it has one."""
        if not self.project:
            return self.reviews
        from p2c._project.draft import REVIEW

        path = Path(self.project) / REVIEW
        return (*self.reviews, *([str(path)] if path.exists() else []))

    @property
    def review_data(self) -> str:
        """Return the file of rows on which edited rules are measured, where there is one."""
        if self.data or not self.project:
            return self.data
        from p2c._project.draft import read_draft

        table = read_draft(Path(self.project)).table
        return str(Path(self.project) / table) if table else ""

    def check(self) -> None:
        """Refuse what would be open to strangers."""
        if not self.is_local and not (self.token or self.user_header):
            raise P2CError(
                f"--host {self.host}: others could connect, so a token is needed: give one with --token"
                " or in the variable P2C_TOKEN, or have a proxy name the users (--user-header)"
            )
        if self.users and not self.user_header:
            raise P2CError("--users: expected --user-header, the header that names the user")
        if self.root and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", self.root):
            raise P2CError(f"--root-path {self.root}: expected a path such as /p2c")
        for each in filter(None, self.proxy.split(",")):
            try:
                ipaddress.ip_network(each.strip(), strict=False)
            except ValueError:
                raise P2CError(
                    f"--proxy {each.strip()}: expected an address such as 10.0.0.7"
                ) from None
        if self.token and len(self.token) < 16:
            raise P2CError(f"the token: expected at least 16 characters, found {len(self.token)}")
        if not self.token.isascii() or any(each.isspace() for each in self.token):
            raise P2CError("the token: expected ASCII letters without blanks")


def is_loopback(host: str) -> bool:
    """Tell whether a host name or address is this machine's own.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def to_environment(settings: Settings) -> str:
    """Return settings as the text of the environment variable."""
    return TypeAdapter(Settings).dump_json(settings).decode()


def from_environment() -> Settings:
    """Return the settings that the environment variable holds."""
    return TypeAdapter(Settings).validate_json(os.environ[VARIABLE])
