"""Find the sender of a request: client, user and role behind a trusted proxy."""

from __future__ import annotations

import time
import tomllib
from collections import OrderedDict
from enum import IntEnum
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from starlette.datastructures import Headers

from p2c.errors import P2CError, suggestion

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Scope

    from p2c._server.settings import Settings

VISITOR = "p2c.visitor"
"""Where the scope of a request holds its visitor."""
LOOPBACK = "127.0.0.0/8,::1/128"
ATTEMPTS = 5
"""Wrong tokens of a client after which it is locked out."""
LOCKED = 60.0
"""Seconds of a lock-out."""
CLIENTS = 10_000
"""Clients whose wrong tokens are counted."""


class Role(IntEnum):
    """A user's rights; each role includes the rights of lower ones."""

    VIEWER = 1
    """Look, plan and write letters."""
    EXPERT = 2
    """Also answer reviews of causal rules."""
    ADMIN = 3
    """Also send tables and models, build projects and read the metrics."""


class Visitor(NamedTuple):
    """The sender of a request.

    Attributes:
        user: Name that the proxy gives; empty without a header of users.
        role: The user's role; None if the user is not admitted.
        client: Address of the client.
        encrypted: Whether the request came over TLS, here or to the proxy.
    """

    user: str
    role: Role | None
    client: str
    encrypted: bool


class Users(NamedTuple):
    """The roles of users, and that of users who are not listed."""

    roles: dict[str, Role]
    otherwise: Role | None

    def role(self, user: str) -> Role | None:
        """Return a user's role; None if the user is not admitted."""
        return self.roles.get(user, self.otherwise)


def read_users(file: str) -> Users:
    """Read a TOML file of users: a table `users` of roles, and the key `default`."""
    try:
        content = tomllib.loads(Path(file).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise P2CError(f"{file}: cannot be read: {reason}") from None
    unknown = set(content) - {"users", "default"}
    if unknown:
        raise P2CError(f"{file}: '{min(unknown)}': expected the keys users and default")
    users = content.get("users", {})
    if not isinstance(users, dict):
        raise P2CError(f"{file}: users: expected a table of names and roles")
    default = content.get("default")
    return Users(
        {name: _role(file, f"users.{name}", text) for name, text in users.items()},
        None if default is None else _role(file, "default", default),
    )


def _role(file: str, place: str, text: object) -> Role:
    names = {each.name.lower(): each for each in Role}
    if not isinstance(text, str) or text not in names:
        raise P2CError(f"{file}: {place}: no role '{text}'; {suggestion(str(text), names)}")
    return names[text]


class Identities:
    """The visitors of a server, as its settings let them be known."""

    def __init__(self, settings: Settings) -> None:
        networks = (settings.proxy or LOOPBACK).split(",")
        self._proxies = [ip_network(each.strip(), strict=False) for each in networks]
        self._header = settings.user_header
        self._users = read_users(settings.users) if settings.users else Users({}, Role.VIEWER)
        self._failures: OrderedDict[str, list[float]] = OrderedDict()

    def visitor(self, scope: Scope) -> Visitor:
        """Return the sender of a request.

        Only a proxy is believed about its client, its user and TLS.
        """
        client = (scope.get("client") or ("",))[0]
        encrypted = scope.get("scheme") == "https"
        if not self._trusts(client):
            return Visitor("", None if self._header else Role.ADMIN, client, encrypted)
        headers = Headers(scope=scope)
        encrypted = encrypted or headers.get("x-forwarded-proto", "").lower() == "https"
        chain = [each.strip() for each in headers.get("x-forwarded-for", "").split(",")]
        client = next((each for each in reversed(chain) if each and not self._trusts(each)), client)
        if not self._header:
            return Visitor("", Role.ADMIN, client, encrypted)
        user = headers.get(self._header, "").strip()[:200]
        return Visitor(user, self._users.role(user) if user else None, client, encrypted)

    def _trusts(self, client: str) -> bool:
        try:
            address = ip_address(client)
        except ValueError:
            return False
        return any(address in each for each in self._proxies)

    def count_failure(self, client: str) -> None:
        """Count a wrong token of a client."""
        times = self._failures.setdefault(client, [])
        times.append(time.monotonic())
        del times[:-ATTEMPTS]
        self._failures.move_to_end(client)
        if len(self._failures) > CLIENTS:
            self._failures.popitem(last=False)

    def forget_failures(self, client: str) -> None:
        """Forget the wrong tokens of a client that gave the right one."""
        self._failures.pop(client, None)

    def is_locked(self, client: str) -> bool:
        """Tell whether a client has given too many wrong tokens within a minute."""
        times = self._failures.get(client, [])
        return len(times) == ATTEMPTS and time.monotonic() - times[0] < LOCKED


def visitor_of(request: Request) -> Visitor:
    """Return the sender of a request."""
    visitor: Visitor = request.scope[VISITOR]
    return visitor


def needed_role(method: str, path: str) -> Role:
    """Return the role that a request needs.

    >>> needed_role("GET", "/review").name, needed_role("POST", "/review").name
    ('VIEWER', 'EXPERT')
    """
    if path == "/metrics" or path.startswith("/new"):
        return Role.ADMIN
    if path.startswith("/review") and method == "POST":
        return Role.EXPERT
    return Role.VIEWER
