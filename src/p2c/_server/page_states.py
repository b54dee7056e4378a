"""The states of pages, kept by the server.

An address holds the id of a state and never a person's values.

Addresses end up in the logs of proxies and in histories. A state belongs to the browser that made it: its id is derived from
the browser's secret, which is in a cookie alone, so an id that is read in a log opens nothing elsewhere.
"""

from __future__ import annotations

import hmac
import sqlite3
import time
from base64 import urlsafe_b64encode
from contextlib import closing
from hashlib import sha256
from threading import Lock

LIFETIME = 12 * 3600
"""Seconds that a state is kept after it was last used."""
LONGEST = 65_536
"""Characters of the longest state."""
OWN, ALL = 500, 5_000
"""Maximum number of states of one browser, and of all browsers.

The states unused for longest are dropped.
"""
TABLE = """
CREATE TABLE IF NOT EXISTS states (id TEXT PRIMARY KEY, owner TEXT, text TEXT, used REAL);
CREATE INDEX IF NOT EXISTS by_owner ON states (owner, used);
CREATE INDEX IF NOT EXISTS by_use ON states (used);
"""
DROPS = (
    "DELETE FROM states WHERE used < :oldest",
    "DELETE FROM states WHERE id IN"
    " (SELECT id FROM states WHERE owner = :owner ORDER BY used DESC LIMIT -1 OFFSET :own)",
    "DELETE FROM states WHERE id IN (SELECT id FROM states ORDER BY used DESC LIMIT -1 OFFSET :all)",
)


class PageStates:
    """States by their ids, in memory or in a file that server processes share.

    >>> states = PageStates()
    >>> id = states.keep("the secret of a browser", "v:debt=5000")
    >>> states.find("the secret of a browser", id), states.find("another", id)
    ('v:debt=5000', None)
    """

    def __init__(self, file: str = "") -> None:
        self._lock = Lock()
        self._base = sqlite3.connect(
            file or ":memory:", check_same_thread=False, isolation_level=None
        )
        with self._lock:
            self._base.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; {TABLE}")

    def keep(self, secret: str, text: str) -> str | None:
        """Keep a state of the browser with a secret.

        Returns:
            The id, the same for the same text. None if the text is longer than any that is kept.
        """
        if len(text) > LONGEST:
            return None
        id_, owner, now = _derived(secret, text), _derived(secret, ""), time.time()
        bounds = {"oldest": now - LIFETIME, "owner": owner, "own": OWN, "all": ALL}
        with self._lock:
            self._base.execute(
                "INSERT OR REPLACE INTO states VALUES (?, ?, ?, ?)", (id_, owner, text, now)
            )
            for drop in DROPS:
                self._base.execute(drop, bounds)
        return id_

    def find(self, secret: str, id_: str) -> str | None:
        """Return a browser's state by its id; None if it is unknown or dropped."""
        now = time.time()
        with self._lock, closing(self._base.cursor()) as cursor:
            row = cursor.execute(
                "SELECT text FROM states WHERE id = ? AND owner = ? AND used >= ?",
                (id_, _derived(secret, ""), now - LIFETIME),
            ).fetchone()
            if row is None:
                return None
            cursor.execute("UPDATE states SET used = ? WHERE id = ?", (now, id_))
        return str(row[0])

    @property
    def count(self) -> int:
        """Return the number of states that are kept."""
        with self._lock:
            return int(self._base.execute("SELECT COUNT(*) FROM states").fetchone()[0])

    def close(self) -> None:
        """Forget every state that is in memory."""
        self._base.close()


def _derived(secret: str, text: str) -> str:
    digest = hmac.digest(secret.encode(), text.encode("utf-8", "surrogatepass"), sha256)
    return urlsafe_b64encode(digest[:18]).decode()
