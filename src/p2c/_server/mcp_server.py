"""The tools of the service for language models, by the Model Context Protocol.

Each tool is a question of the service, answered by the same solvers: the answers are equal, and all words are p2c's own.
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations
from pydantic import ValidationError

from p2c._release import __version__
from p2c._server import messages, solver_pool
from p2c._server.app import watch_problems
from p2c._server.error_answers import describe
from p2c._server.problem_store import open_store
from p2c._server.service import solver_arguments
from p2c.errors import P2CError

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from mcp_types import CallToolRequestParams, PaginatedRequestParams

    from p2c._server.problem_store import ProblemStore
    from p2c._server.settings import Settings
    from p2c._server.solver_pool import SolverPool

log = logging.getLogger(__name__)
INSTRUCTIONS = """\
p2c answers a refused person with a plan: the cheapest ordered actions that lead to acceptance, proved, or a proof that
none exists. Call `problems` for the ids and features, `plan` for the answer, `letter` for its words. Repeat the words of
`letter`; add no action and no reason of your own. Say whether `proof` is "certificate", "exhausted" or "none"."""


class Question(NamedTuple):
    """A tool of language models.

    Attributes:
        message: Type of its arguments.
        task: The solver's task that answers it.
        description: Text for the language model.
        limits: Number of time limits that an answer may take.
    """

    message: type[messages.Message]
    task: str
    description: str
    limits: int = 1


TOOLS = {
    "plan": Question(
        messages.PlanRequest,
        "plan",
        "Find the cheapest plan of a person, or prove that none exists.",
    ),
    "nearest": Question(
        messages.NearestRequest, "nearest", "Find the k cheapest end states, each with its plan."
    ),
    "why": Question(messages.WhyRequest, "why", "Explain the decision about a person."),
    "letter": Question(
        messages.LetterRequest, "words", "Write the plan of a person as a letter in plain words."
    ),
    "check": Question(messages.CheckRequest, "check", "Replay a plan and list its faults."),
    "verify": Question(
        messages.VerifyRequest,
        "verify",
        "Verify with the independent checker that a plan is a path and that no path costs less.",
    ),
    "audit": Question(
        messages.AuditRequest,
        "audit",
        "Count how many people have a plan, compare groups, and name why others have none.",
        limits=6,
    ),
}
PROBLEMS = Tool(
    name="problems",
    description="List the problems: their ids, goals and features.",
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    annotations=ToolAnnotations(read_only_hint=True),
)


def serve_tools(settings: Settings) -> None:
    """Serve the tools on standard input and output until the input ends."""
    asyncio.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    store = open_store(settings)
    limits = settings.limits
    pool = solver_pool.SolverPool(
        size=limits.solvers, waiting=limits.waiting, first=store.greetings
    )
    pool.start()
    watching = asyncio.create_task(watch_problems(store, pool))
    server = tool_server(store, pool, limits.seconds)
    try:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        await pool.stop()


def tool_server(store: ProblemStore, pool: SolverPool, limit: float) -> Server[Any]:
    """Return a server of the tools.

    Args:
        store: The problems.
        pool: The solvers that answer.
        limit: Seconds that one question may take.
    """

    async def list_tools(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=[PROBLEMS, *map(_described, TOOLS)])

    async def call_tool(
        context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        try:
            return _result(await answer(params.name, params.arguments or {}))
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(map(str, each['loc'])) or params.name}: {each['msg']}"
                for each in error.errors(include_url=False)[:5]
            )
            return _refused(faults)
        except Exception as error:
            status, line, _ = describe(error)
            if status == 500:
                log.exception("a tool failed")
            return _refused(line)

    async def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name == PROBLEMS.name:
            return {"problems": [each.to_dict() for each in store.entries.values()]}
        if name not in TOOLS:
            raise P2CError(f"no tool '{name[:60]}': expected {', '.join(TOOLS)}")
        tool = TOOLS[name]
        question = tool.message.model_validate_json(json.dumps(arguments))
        entry, given = solver_arguments(question, store, limit)
        seconds = tool.limits * given.get("time_limit", limit)
        asked = solver_pool.Question(tool.task, entry.digest, entry.keys, given)
        reply = await pool.ask(asked, seconds=seconds)
        content: dict[str, Any] = json.loads(reply)
        return content

    return Server(
        "p2c",
        version=__version__,
        title="Plans to acceptance, with proof",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _described(name: str) -> Tool:
    tool = TOOLS[name]
    return Tool(
        name=name,
        description=tool.description,
        input_schema=tool.message.model_json_schema(),
        annotations=ToolAnnotations(read_only_hint=True),
    )


def _result(content: dict[str, Any]) -> CallToolResult:
    text = content.get("text") or json.dumps(content, ensure_ascii=False)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=content)


def _refused(line: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=line)], is_error=True)
