"""Tools for language models, called by the official client."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from p2c import datasets

pytest.importorskip("mcp")
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from starlette.testclient import TestClient

JOHN = datasets.rows("loan")["john"]
PEOPLE = [(name, row) for name in datasets.names() for row in datasets.rows(name).values()]


def with_client(use: Callable[[Client], Coroutine[Any, Any, None]], *arguments: str) -> None:
    """Run a coroutine with the official client of `p2c mcp`."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "p2c", "mcp", *arguments], env=dict(os.environ)
    )

    async def run() -> None:
        async with Client(stdio_client(server)) as client:
            await use(client)

    asyncio.run(run())


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    reply = await client.call_tool(tool, arguments)
    assert not reply.is_error, reply.content
    content: dict[str, Any] = reply.structured_content
    return content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    reply = await client.call_tool(tool, arguments)
    assert reply.is_error
    content = reply.content[0]
    assert content.type == "text"
    assert "\n" not in content.text
    return content.text


def test_every_tool_is_listed_and_answers() -> None:
    async def use(client: Client) -> None:
        tools = {each.name: each for each in (await client.list_tools()).tools}
        assert sorted(tools) == sorted(
            ["audit", "check", "letter", "nearest", "plan", "problems", "verify", "why"]
        )
        assert all(each.description for each in tools.values())
        assert tools["plan"].input_schema["properties"]["row"]["type"] == "object"
        listed = await answer(client, "problems")
        assert [each["id"] for each in listed["problems"]] == [*datasets.names()]
        plan = await answer(client, "plan", problem="loan", row=JOHN)
        assert (plan["status"], plan["cost"]) == ("found", 0.00502)
        letter = await answer(client, "letter", problem="loan", row=JOHN, language="de")
        assert "Dollar" in letter["text"]
        assert (await answer(client, "check", problem="loan", plan=plan))["valid"]
        proof = await answer(client, "verify", problem="loan", row=JOHN, plan=plan)
        assert proof["verified"]
        false = {**plan, "status": "infeasible", "steps": [], "cost": None, "counterfactual": None}
        refuted = await answer(client, "verify", problem="loan", row=JOHN, plan=false)
        assert not refuted["verified"]
        audit = await answer(
            client, "audit", problem="loan", rows=[*datasets.rows("loan").values()]
        )
        assert audit["groups"][0]["refused"]["count"] == 4

    with_client(use)


def test_bad_arguments_are_answered_with_one_line() -> None:
    async def use(client: Client) -> None:
        assert "missing from the row" in await refusal(client, "plan", problem="loan", row={})
        assert "no problem 'x'" in await refusal(client, "plan", problem="x", row=JOHN)
        assert "colour" in await refusal(client, "plan", problem="loan", row=JOHN, colour=1)
        assert "expected plan, nearest" in await refusal(client, "draw")

    with_client(use)


@pytest.mark.parametrize("copies", [1, pytest.param(80, marks=pytest.mark.slow)])
def test_answers_equal_those_of_the_service(client: TestClient, copies: int) -> None:
    questions = [
        (tool, {"problem": name, "row": {**row, **changed(row, copy)}})
        for copy in range(copies)
        for name, row in PEOPLE
        for tool in ("plan", "why")
    ]

    async def use(tools: Client) -> None:
        for tool, arguments in questions:
            service = client.post(f"/{tool}", json=arguments)
            if service.status_code == 200:
                assert await answer(tools, tool, **arguments) == service.json()
            else:
                assert await refusal(tools, tool, **arguments) == service.json()["error"]["message"]

    with_client(use)


def changed(row: dict[str, Any], copy: int) -> dict[str, Any]:
    """Return one value of a row with a number added, so that copies differ."""
    numbers = [name for name, value in row.items() if type(value) is int]
    return {numbers[copy % len(numbers)]: row[numbers[copy % len(numbers)]] + copy} if copy else {}
