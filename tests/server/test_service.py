"""The service: its answers are the library's own, and whatever is wrong is said in one shape."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from p2c import datasets
from p2c._server.app import build_app
from p2c._server.settings import Limits, Settings
from p2c.problem import Problem
from tests.server.conftest import HERE

if TYPE_CHECKING:
    from pathlib import Path

    from httpx2 import Response

JOHN = datasets.rows("loan")["john"]
PEOPLE = [(name, row) for name in datasets.names() for row in datasets.rows(name)]


def embedded(name: str) -> Problem:
    return Problem.from_dict(tomllib.loads(datasets.problem_text(name)))


def through_json(data: Any) -> Any:
    return json.loads(json.dumps(data))


def error_answer(answer: Response) -> str:
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "faults"}
    assert "Traceback" not in answer.text
    message: str = error["message"]
    assert "\n" not in message
    return message


@pytest.mark.parametrize(("name", "person"), PEOPLE)
def test_a_plan_is_the_library_s_own(client: TestClient, name: str, person: str) -> None:
    row = datasets.rows(name)[person]
    answer = client.post("/plan", json={"problem": name, "row": row})
    assert answer.status_code == 200
    assert answer.json() == through_json(embedded(name).plan(row).to_dict())


@pytest.mark.parametrize("norm", ["l0", "l1", "l2", "linf"])
def test_keys_of_a_question_override_the_problem_s(client: TestClient, norm: str) -> None:
    row = datasets.rows("adult")["paper"]
    answer = client.post(
        "/plan", json={"problem": "adult", "row": row, "norm": norm, "effects": "supported"}
    )
    expected = embedded("adult").plan(row, norm=norm, effects="supported").to_dict()
    assert answer.json() == through_json(expected)


@pytest.mark.parametrize("engine", ["auto", "native", "clingo"])
def test_every_engine_answers_at_the_same_cost(client: TestClient, engine: str) -> None:
    asked = {"problem": "cars", "row": datasets.rows("cars")["unsafe"], "engine": engine}
    assert client.post("/plan", json=asked).json()["cost"] == 1
    plans = client.post("/nearest", json=asked | {"k": 2}).json()["plans"]
    assert [each["cost"] for each in plans] == [1, 1]


def test_the_nearest_are_the_library_s_own(client: TestClient) -> None:
    row = datasets.rows("cars")["unsafe"]
    answer = client.post(
        "/nearest", json={"problem": "cars", "row": row, "k": 4, "distinct": "cells"}
    )
    expected = [each.to_dict() for each in embedded("cars").nearest(row, 4, distinct="cells")]
    assert answer.json() == {"plans": through_json(expected)}


def test_why_comes_in_sentences_and_as_a_proof(client: TestClient) -> None:
    answer = client.post("/why", json={"problem": "loan", "row": JOHN}).json()
    assert answer["holds"] is False
    assert answer["proof"] == through_json(embedded("loan").why(JOHN).to_dict())
    assert "40,000 dollars" in " ".join(each["text"] for each in answer["sentences"])


def test_a_plan_of_ours_passes_the_check_and_a_modified_one_does_not(client: TestClient) -> None:
    plan = client.post("/plan", json={"problem": "loan", "row": JOHN}).json()
    assert client.post("/check", json={"problem": "loan", "plan": plan}).json() == {
        "valid": True,
        "faults": [],
        "checked": "the path is valid: every step, the cost and the end",
        "unchecked": "that no cheaper path exists",
    }
    plan["steps"][0]["actions"][0]["to"] = 7
    modified = client.post("/check", json={"problem": "loan", "plan": plan}).json()
    assert not modified["valid"]
    assert modified["faults"][0]["place"].startswith("step 1")


def test_a_follow_up_is_the_library_s_own(client: TestClient) -> None:
    plan = embedded("loan").plan(JOHN)
    now = {**JOHN, "debt": 0, "credit_score": 620}
    keys = {"problem": "loan", "plan": through_json(plan.to_dict()), "row": now}
    answer = client.post("/follow-up", json={**keys, "language": "de"})
    later = embedded("loan").follow_up(plan, now)
    assert answer.json() == through_json({**later.to_dict(), "text": later.explain("de")})
    refused = client.post("/follow-up", json={**keys, "plan": {"status": "found"}})
    assert refused.status_code == 422


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        ("/plan", '{"problem": "loan", "row": {"debt": 1, "age": 31, "debt": 5000}}', "debt"),
        ("/why", '{"problem": "loan", "row": {"debt": 1, "d\\u0065bt": 5000}}', "debt"),
        ("/plan", '{"problem": "loan", "problem": "adult", "row": {}}', "problem"),
        (
            "/plan",
            '{"problem": "loan", "row": {}, "restrictions": {"age": {"max": 1, "max": 2}}}',
            "max",
        ),
        (
            "/check",
            '{"problem": "loan", "plan": {"status": "found", "status": "already"}}',
            "status",
        ),
    ],
)
def test_a_key_that_is_given_twice_is_refused_in_one_line(
    client: TestClient, path: str, body: str, name: str
) -> None:
    answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert error_answer(answer) == f"the name '{name}' stands there 2 times"


def test_the_description_bounds_numbers_in_the_words_of_json_schema(client: TestClient) -> None:
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    limit = schemas["PlanRequest"]["properties"]["time_limit"]["anyOf"][0]
    assert limit == {"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000_000}
    text = json.dumps(schemas)
    assert not [each for each in ("gt", "ge", "lt", "le") if f'"{each}":' in text]


@pytest.mark.parametrize(
    "wrong", ["0", "-1", "1e10", "true", '"1"', "NaN", "1e999", "1" + "0" * 400]
)
def test_a_time_limit_that_is_none_is_refused(client: TestClient, wrong: str) -> None:
    body = f'{{"problem": "loan", "row": {json.dumps(JOHN)}, "time_limit": {wrong}}}'
    answer = client.post("/plan", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert error_answer(answer).startswith("time_limit")


def test_restrictions_of_a_person_change_the_answer(client: TestClient) -> None:
    asked = {"problem": "loan", "row": JOHN, "restrictions": {"debt": {"action": "fixed"}}}
    answer = client.post("/plan", json=asked).json()
    assert answer["status"] == "infeasible"
    assert answer["blockers"]


@pytest.mark.parametrize(
    ("path", "asked", "status", "words"),
    [
        ("/plan", {"problem": "loan", "row": {}}, 422, "missing from the row"),
        ("/plan", {"problem": "loan", "row": {**JOHN, "debt": -1}}, 422, "outside its range"),
        (
            "/plan",
            {"problem": "loan", "row": {**JOHN, "debt": True}},
            422,
            "debt: expected a whole number",
        ),
        (
            "/plan",
            {"problem": "loan", "row": {**JOHN, "debt": [1]}},
            422,
            "row.debt",
        ),
        ("/plan", {"problem": "lone", "row": JOHN}, 404, "did you mean 'loan'?"),
        ("/plan", {"row": JOHN}, 404, "which problem?"),
        ("/plan", {"problem": "loan", "row": JOHN, "norm": "l3"}, 422, "norm"),
        ("/plan", {"problem": "loan", "row": JOHN, "engine": "clasp"}, 422, "engine"),
        ("/plan", {"problem": "loan", "row": JOHN, "gaol": "x"}, 422, "gaol"),
        ("/plan", {"problem": "loan", "row": JOHN, "time_limit": 0}, 422, "time_limit"),
        ("/plan", {"problem": "loan", "row": JOHN, "time_limit": 10**400}, 422, "time_limit"),
        ("/plan", {"problem": "loan", "row": JOHN, "time_limit": 1e300}, 422, "time_limit"),
        (
            "/plan",
            {"problem": "loan", "row": JOHN, "restrictions": {"dept": {}}},
            422,
            "did you mean 'debt'?",
        ),
        (
            "/plan",
            {"problem": "loan", "row": JOHN, "restrictions": {"debt": {"min": 7, "max": 6}}},
            422,
            "ends of your limits are swapped",
        ),
        (
            "/plan",
            {"problem": "loan", "row": JOHN, "restrictions": {"debt": {"max": True}}},
            422,
            "restrictions.debt.max: expected a number",
        ),
        ("/plan", {"problem": "loan", "row": {**JOHN, "debt": 10**400}}, 422, "outside its range"),
        ("/nearest", {"problem": "loan", "row": JOHN, "k": 0}, 422, "k"),
        ("/nearest", {"problem": "loan", "row": JOHN, "k": 10**30}, 422, "at most 100"),
        ("/check", {"problem": "loan", "plan": {}}, 422, "status"),
        ("/check", {"problem": "loan", "plan": []}, 422, "plan"),
        ("/why", {"problem": "loan", "row": 3}, 422, "row"),
    ],
)
def test_bad_input_is_one_clear_line(
    client: TestClient, path: str, asked: Any, status: int, words: str
) -> None:
    answer = client.post(path, json=asked)
    assert answer.status_code == status
    assert words in error_answer(answer)


@pytest.mark.parametrize("limit", ["1" + "0" * 400, "1e999", "1e-320", "0.5"])
def test_a_time_limit_of_any_size_is_answered_or_refused(client: TestClient, limit: str) -> None:
    body = f'{{"problem": "loan", "row": {json.dumps(JOHN)}, "time_limit": {limit}}}'
    answer = client.post("/plan", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (200, 422, 504)


@pytest.mark.parametrize("key", ["min", "max", "weight"])
def test_a_restriction_with_an_immense_number_is_answered_or_refused(
    client: TestClient, key: str
) -> None:
    asked = {"problem": "loan", "row": JOHN, "restrictions": {"debt": {key: 10**400}}}
    assert client.post("/plan", json=asked).status_code in (200, 422)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"nul", b'"x"'])
def test_what_is_no_json_object_is_refused(client: TestClient, body: bytes) -> None:
    answer = client.post("/plan", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    error_answer(answer)


def test_what_does_not_say_that_it_is_json_is_refused(client: TestClient) -> None:
    body = json.dumps({"problem": "loan", "row": JOHN})
    answer = client.post("/plan", content=body, headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415
    assert error_answer(answer) == "expected application/json, found 'text/plain'"


def test_a_body_past_the_limit_is_refused_with_and_without_a_stated_length(
    client: TestClient,
) -> None:
    large = b" " * 1_000_001
    assert client.post("/plan", content=large).status_code == 413
    parts = (large[each : each + 100_000] for each in range(0, len(large), 100_000))
    answer = client.post("/plan", content=parts, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413
    assert "at most 1,000,000 bytes" in error_answer(answer)


def test_a_body_without_a_stated_length_is_read_whole(client: TestClient) -> None:
    body = json.dumps({"problem": "loan", "row": JOHN}).encode()
    parts = (body[each : each + 7] for each in range(0, len(body), 7))
    answer = client.post("/plan", content=parts, headers={"Content-Type": "application/json"})
    assert answer.json()["status"] == "found"


def test_the_server_lists_its_problems_and_says_that_it_is_well(client: TestClient) -> None:
    listed = client.get("/problems").json()["problems"]
    assert [each["id"] for each in listed] == list(datasets.names())
    assert all(each["error"] is None for each in listed)
    assert client.get("/health").json() == {"status": "ok"}
    client.post("/plan", json={"problem": "loan", "row": JOHN})
    assert client.get("/ready").status_code == 200


def test_metrics_count_answers_by_what_they_say(client: TestClient) -> None:
    client.post("/plan", json={"problem": "loan", "row": JOHN})
    text = client.get("/metrics").text
    assert 'p2c_answers_total{problem="loan",status="found"}' in text
    assert 'p2c_requests_total{route="/plan",status="200"}' in text


def test_an_unknown_path_or_method_has_the_same_shape(client: TestClient) -> None:
    for answer, status, words in (
        (client.get("/nope"), 404, "/docs lists what can be asked"),
        (client.get("/static/nope"), 404, "/docs lists what can be asked"),
        (client.delete("/plan"), 405, "expected POST"),
        (client.post("/problems"), 405, "expected GET"),
        (client.post("/static/page.css"), 405, "not for this address"),
    ):
        assert answer.status_code == status
        assert words in error_answer(answer)


def test_the_service_alone_has_no_pages_for_errors_either() -> None:
    app = build_app(Settings(pages=False, limits=Limits(solvers=1)))
    with TestClient(app, base_url=HERE) as client:
        for path in ("/p/loan/plan", "/review"):
            assert "nothing at this address" in error_answer(client.get(path))


def test_the_examples_of_the_description_are_made_up_and_fit(tmp_path: Path) -> None:
    file, rows = tmp_path / "loan.toml", tmp_path / "people.json"
    file.write_text(datasets.problem_text("loan"))
    rows.write_text(json.dumps([{**JOHN, "bank_balance": 40_123}]))
    settings = Settings(
        problems=(str(file),), rows=((str(file), str(rows)),), limits=Limits(solvers=1)
    )
    with TestClient(build_app(settings), base_url=HERE) as client:
        described = client.get("/openapi.json")
        assert "40123" not in described.text
        for path in ("/plan", "/nearest", "/why"):
            asked = described.json()["paths"][path]["post"]["requestBody"]
            for example in asked["content"]["application/json"]["examples"].values():
                assert client.post(path, json=example["value"]).status_code == 200


def test_openapi_describes_each_route_and_its_page_loads_nothing_from_outside(
    client: TestClient,
) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert set(paths) == {
        *("/plan", "/nearest", "/why", "/check", "/follow-up", "/report"),
        *("/problems", "/health", "/ready", "/metrics"),
    }
    page = client.get("/docs").text
    assert all(path in page for path in paths)
    assert "http://" not in page
    assert "https://" not in page


def test_a_question_past_its_time_is_told_what_was_found_and_the_next_one_is_answered() -> None:
    limits = Limits(solvers=1, seconds=0.2, plans=10**8)
    app = build_app(Settings(limits=limits))
    with TestClient(app, base_url=HERE) as client:
        while client.get("/ready").status_code != 200:
            pass
        hard = client.post("/nearest", json={"problem": "loan", "row": JOHN, "k": 10**8})
        assert hard.status_code == 200
        assert [each["status"] for each in hard.json()["plans"]][-1] == "gave_up"
        while client.post("/plan", json={"problem": "loan", "row": JOHN}).status_code == 503:
            pass
        assert client.post("/plan", json={"problem": "loan", "row": JOHN}).status_code == 200


def test_a_server_with_one_problem_need_not_be_told_which(tmp_path: Path) -> None:
    file = tmp_path / "my loan.toml"
    file.write_text(datasets.problem_text("loan"))
    app = build_app(Settings(problems=(str(file),), pages=False, limits=Limits(solvers=1)))
    with TestClient(app, base_url=HERE) as client:
        assert client.post("/plan", json={"row": JOHN}).json()["status"] == "found"
        assert client.post("/plan", json={"problem": "my-loan", "row": JOHN}).status_code == 200
        assert client.get("/p/my-loan/plan").status_code == 404
        assert client.get("/", follow_redirects=False).headers["location"] == "/docs"
