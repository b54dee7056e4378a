"""What an operator sees: logs, one JSON object a line, and counts for Prometheus.

Nothing in them is what a person said: no query, no body, no address of a client.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}
"""What every record has; the rest is what a call added to it."""
BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
STATUS = re.compile(rb'\{"status": "(\w+)"')


class JsonFormatter(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; of an exception its kind and place, since its text may quote a person's values."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {key: value for key, value in vars(record).items() if key not in PLAIN}
        if record.exc_info and record.exc_info[0]:
            line["kind"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            line["frames"] = [f"{each.filename}:{each.lineno} {each.name}" for each in frames]
        return json.dumps(line, ensure_ascii=True, default=str)


def log_as_json() -> None:
    """Send the logs of the server to standard error, as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name in ("p2c", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler] if name != "uvicorn.error" else []
        logger.setLevel(logging.INFO)
        logger.propagate = name == "uvicorn.error"


class Metrics:
    """One server's counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._counts: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self.requests = Counter(
            "p2c_requests", "Requests answered.", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "p2c_request_seconds",
            "How long requests took.",
            ["route"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.answers = Counter(
            "p2c_answers",
            "Answers by what they say.",
            ["problem", "status"],
            registry=self.registry,
        )
        self.active = Gauge(
            "p2c_active_requests",
            "Requests under way.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )

    def count_request(self, route: str, status: int, seconds: float) -> None:
        """Count a request; finding the counts by their labels is slow, so they are kept at hand."""
        counts = self._counts.get((route, status))
        if counts is None:
            counts = (self.requests.labels(route, str(status)), self.seconds.labels(route))
            self._counts[route, status] = counts
        counts[0].inc()
        counts[1].observe(seconds)

    def count_answer(self, problem: str, reply: bytes) -> None:
        """Count an answer by the status that it starts with, if it does."""
        match = STATUS.match(reply)
        if match:
            self.answers.labels(problem, match[1].decode()).inc()

    def text(self) -> bytes:
        """Return the counts as Prometheus reads them, those of all processes of the server together."""
        registry = self.registry
        if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
