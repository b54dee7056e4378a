"""Counts for Prometheus: requests by route and status, how long they took, how many are under way, answers by status."""

from __future__ import annotations

import os
import re

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
STATUS = re.compile(rb'\{"status": "(\w+)"')


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


CONTENT_TYPE = CONTENT_TYPE_LATEST
