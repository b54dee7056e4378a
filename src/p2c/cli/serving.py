"""Commands of the workbench, the JSON service and the MCP tools."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path  # noqa: TC003 - typer reads it
from typing import Annotated

import typer

from p2c.cli.app import command_group, out
from p2c.errors import MissingExtra, P2CError, need_learning

serving = command_group()

PACKAGES = {
    "fastapi": "fastapi",
    "uvicorn": "uvicorn",
    "jinja2": "jinja2",
    "python_multipart": "python-multipart",
    "prometheus_client": "prometheus-client",
}


@serving.command()
def serve(
    problems: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Problems: files, or folders that p2c fit made; a new or empty folder begins a project."
        ),
    ] = None,
    *,
    api: Annotated[
        bool, typer.Option("--api", help="Serve the JSON service without pages.")
    ] = False,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port.")] = 8000,
    token: Annotated[
        str,
        typer.Option(
            envvar="P2C_TOKEN",
            help="The secret (bearer token) of all clients; required if other machines can connect.",
            show_default=False,
        ),
    ] = "",
    workers: Annotated[int, typer.Option(min=1, help="Number of server processes.")] = 1,
    solvers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Solver processes of each server process; the number of processors by default.",
        ),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds for one question; ten by default.")
    ] = None,
    rows: Annotated[
        list[str] | None,
        typer.Option(
            help="A file of people to choose from; PROBLEM=FILE if there are several problems."
        ),
    ] = None,
    review: Annotated[
        list[Path] | None, typer.Option(help="A review of causal rules to work on.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="The data of the review, to measure edited rules on.")
    ] = None,
    lender: Annotated[
        Path | None,
        typer.Option(help="The lender's file for letters and notices: see p2c report."),
    ] = None,
    register: Annotated[
        Path | None, typer.Option(help="A file to which a record of each notice is appended.")
    ] = None,
    proxy: Annotated[
        str,
        typer.Option(
            help="The address of the proxy for TLS, if it is on another machine; several with commas."
        ),
    ] = "",
    user_header: Annotated[
        str,
        typer.Option(
            help="The header in which the proxy names the user, such as X-Forwarded-User.",
            show_default=False,
        ),
    ] = "",
    users: Annotated[
        Path | None,
        typer.Option(help="A TOML file of users and roles: viewer, expert or admin."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name of this server in addresses, as the proxy passes it on."),
    ] = None,
    root_path: Annotated[
        str, typer.Option(help="The path under which a proxy serves the pages, such as /p2c.")
    ] = "",
) -> None:
    """Serve the workbench pages and the JSON service, on this machine by default."""
    _need_packages()
    from p2c._server.server import serve as run
    from p2c._server.settings import Limits, Settings

    project = _project(problems or [], workers, api=api)
    files = tuple(str(each) for each in problems or () if str(each) != project)
    usual = Limits()
    limits = replace(usual, seconds=time_limit or usual.seconds, solvers=solvers or usual.solvers)
    settings = Settings(
        problems=files,
        rows=tuple(_rows_of(each, files) for each in rows or ()),
        reviews=tuple(str(each) for each in review or ()),
        data="" if data is None else str(data),
        project=project,
        host=host,
        port=port,
        token=token,
        lender="" if lender is None else str(lender),
        register="" if register is None else str(register),
        proxy=proxy,
        user_header=user_header.lower(),
        users="" if users is None else str(users),
        hosts=tuple(each.lower() for each in allow_host or ()),
        root=root_path.rstrip("/"),
        pages=not api,
        limits=limits,
    )
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}/ (Ctrl+C stops the server)"
    run(settings, workers=workers, ready=lambda: out.print(address, markup=False))


@serving.command("mcp")
def serve_mcp(
    problems: Annotated[
        list[Path] | None,
        typer.Argument(help="Problems: files, or folders that p2c fit made."),
    ] = None,
    *,
    solvers: Annotated[int, typer.Option(min=1, help="Number of solver processes.")] = 1,
    time_limit: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds for one question; ten by default.")
    ] = None,
) -> None:
    """Serve plans as tools of the Model Context Protocol, on standard streams."""
    try:
        _need_packages()
        from p2c._server.mcp_server import serve_tools
    except (ImportError, MissingExtra) as error:
        raise MissingExtra("mcp", extra="mcp") from error
    from p2c._server.settings import Limits, Settings

    limits = replace(Limits(), solvers=solvers)
    limits = limits if time_limit is None else replace(limits, seconds=time_limit)
    serve_tools(Settings(problems=tuple(str(each) for each in problems or ()), limits=limits))


def _project(paths: list[Path], workers: int, *, api: bool) -> str:
    """Return the project folder among the problems, or an empty text.

    A project is made in the browser; its folder is new, empty, or holds an unfinished project.
    """
    projects = [each for each in paths if _is_project(each)]
    if not projects:
        return ""
    if api:
        what = "an empty or a project's" if projects[0].exists() else "no such"
        raise P2CError(
            f"{projects[0]}: {what} folder; expected one that p2c fit made, or without --api one to make a project in"
        )
    if len(projects) > 1:
        raise P2CError(f"{projects[1]}: one project at a time, and there is {projects[0]}")
    if workers > 1:
        raise P2CError(f"--workers {workers}: a project is made by one server process")

    need_learning()
    return str(projects[0])


def _is_project(path: Path) -> bool:
    if not path.exists():
        return not path.suffix
    return path.is_dir() and ((path / "project.json").exists() or not any(path.iterdir()))


def _rows_of(option: str, problems: tuple[str, ...]) -> tuple[str, str]:
    """Return the problem's file and the file of rows that one option names."""
    name, equals, file = option.partition("=")
    if equals and name in problems:
        return name, file
    if len(problems) == 1:
        return problems[0], option
    known = " or ".join(f"--rows {each}=FILE" for each in problems) or "a problem's file first"
    raise P2CError(f"--rows {option}: expected {known}")


def _need_packages() -> None:
    """Raise `MissingExtra` unless the packages of the server are installed."""
    for module, package in PACKAGES.items():
        try:
            __import__(module)
        except ImportError as error:
            raise MissingExtra(package, extra="web") from error
