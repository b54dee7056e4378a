"""The example of nginx with TLS and two users in front of a server."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest

from p2c._learn.causal.review import read_review
from tests.learn.causal.reviews import new_review
from tests.server.running import PATIENCE, free_port, running

if TYPE_CHECKING:
    from collections.abc import Iterator

NGINX, OPENSSL = shutil.which("nginx") or shutil.which("/usr/sbin/nginx"), shutil.which("openssl")
pytestmark = pytest.mark.skipif(
    not (NGINX and OPENSSL), reason="no nginx or openssl: apt-get install nginx-light openssl"
)
EXAMPLE = Path(__file__).parents[2] / "deploy" / "nginx.conf"
PASSWORDS = {"vera": "look-at-plans", "edda": "answer-reviews"}


@contextmanager
def proxied(folder: Path, upstream: str) -> Iterator[str]:
    """Start nginx with the example's configuration; yield its address."""
    port = free_port()
    subprocess.run(
        [str(OPENSSL), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
         "-subj", "/CN=127.0.0.1", "-keyout", folder / "tls.key", "-out", folder / "tls.crt"],
        check=True,
        capture_output=True,
    )  # fmt: skip
    lines = []
    for user, password in PASSWORDS.items():
        hashed = subprocess.run(
            [str(OPENSSL), "passwd", "-apr1", password], check=True, capture_output=True, text=True
        )
        lines.append(f"{user}:{hashed.stdout.strip()}\n")
    (folder / "passwords").write_text("".join(lines))
    site = EXAMPLE.read_text()
    for old, new in {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/p2c/": f"{folder}/",
        "/var/log/nginx/p2c.log": f"{folder}/access.log",
        "http://127.0.0.1:8000/": f"{upstream}/",
    }.items():
        assert old in site
        site = site.replace(old, new)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user}daemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\n{temporary}{site}}}\n"
    )
    command = [
        str(NGINX),
        "-p",
        str(folder),
        "-e",
        f"{folder}/error.log",
        "-c",
        f"{folder}/nginx.conf",
    ]
    process = subprocess.Popen(command)
    address = f"https://127.0.0.1:{port}"
    try:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                httpx2.get(address, verify=False)
                break
            except httpx2.TransportError:
                assert process.poll() is None, (folder / "error.log").read_text()
                assert time.monotonic() < end
                time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_two_users_work_behind_nginx_with_tls(tmp_path: Path) -> None:
    review = new_review(tmp_path / "review.jsonl")
    (tmp_path / "users.toml").write_text('[users]\nvera = "viewer"\nedda = "expert"\n')
    options = (
        "--user-header", "X-Forwarded-User", "--users", str(tmp_path / "users.toml"),
        "--root-path", "/p2c", "--review", str(review),
    )  # fmt: skip
    with running(tmp_path, *options) as server, proxied(tmp_path, server.address) as address:

        def visit(user: str) -> httpx2.Client:
            login = (user, PASSWORDS[user])
            return httpx2.Client(
                base_url=f"{address}/p2c", verify=False, auth=login, timeout=PATIENCE
            )

        refused = httpx2.get(f"{address}/p2c/", verify=False, timeout=PATIENCE)
        assert refused.status_code == 401
        forged = httpx2.get(f"{server.address}/", headers={"X-Forwarded-User": "mallory"})
        assert forged.status_code == 403
        with visit("vera") as vera, visit("edda") as edda:
            deep = vera.get("/p/loan/plan?row=1")
            assert deep.status_code == 200
            assert 'href="/p2c/p/loan/person' in deep.text
            assert "Secure" in deep.headers["set-cookie"]
            moved = vera.get("/p/loan/plan?v:debt=123456&v:age=31")
            assert moved.headers["location"].startswith("/p2c/p/loan/plan?state=")
            answer = {
                "file": "1", "rule": "score-1", "verdict": "approved", "law": "iff",
                "why": "seen", "by": "", "seen": "0", "rule_text": "",
            }  # fmt: skip
            assert vera.post("/review", data=answer).status_code == 403
            assert edda.post("/review", data=answer).status_code == 303
    assert read_review(review).history("score-1")[-1].by == "edda (expert)"
    log = (tmp_path / "access.log").read_text()
    assert "vera" in log
    assert "123456" not in log
