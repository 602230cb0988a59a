"""``tessera lab os``: recorded programs under an imitation of Linux's memory management."""

from __future__ import annotations

from pathlib import Path

import click

PATH = click.Path(path_type=Path)


@click.group(name="os")
def os_group() -> None:
    """Run recorded programs under an imitation of Linux's memory management.

    A scenario says how much memory the machine has, how fragmented it is, and how huge pages are set. The
    log has every fault, and the frame and size of each page over time. docs/reference/scenarios.md
    describes both.

    \b
    Example:
      ./run tessera lab os run --trace /tmp/os/gups.tst --scenario thp-always --out /tmp/os/thp-always.oslog
      ./run tessera lab os show /tmp/os/thp-always.oslog
    """


@os_group.command()
@click.option("--trace", required=True, type=PATH, help="Trace recorded with --events --roi whole.")
@click.option(
    "--scenario", required=True, metavar="NAME", help="Scenario, or a YAML file (see `tessera lab os list`)."
)
@click.option("--out", required=True, type=PATH, help="Log to write.")
def run(trace: Path, scenario: str, out: Path) -> None:
    """Replay a trace under a scenario and write the mapping log.

    The log is complete or absent: a command that was stopped begins again.

    \b
    Example:
      ./run tessera lab os run --trace /tmp/os/gups.tst --scenario fragmented-90 --out /tmp/os/f90.oslog
    """
    from tessera.cli.output import say_trace_notes
    from tessera.core import scenarios
    from tessera.core.errors import TesseraError
    from tessera.core.progress import PercentProgress
    from tessera.record.traces import trace_info
    from tessera.simulate import operating_system

    asked = scenarios.load_scenario(scenario)
    if Path(scenario).suffix and out.resolve() == Path(scenario).resolve():
        raise TesseraError(f"--out {out}", "this is the scenario's file", "name another file")
    trace_info(trace)
    shown = PercentProgress(f"{trace.name} under {asked.name}")
    try:
        text = operating_system.run_scenario(trace, asked, out, shown)
    finally:
        shown.close()
    click.echo(text, nl=False)
    click.echo(f"log -> {out}")
    say_trace_notes(trace)


@os_group.command()
@click.argument("log", type=PATH)
@click.option(
    "--csv", "table", metavar="TABLE", help="records, faults, kinds, sizes, areas, chunks or counters."
)
def show(log: Path, table: str | None) -> None:
    """Show what a log has: faults by kind, page sizes, areas, contiguity.

    \b
    Example:
      ./run tessera lab os show /tmp/os/thp-always.oslog --csv sizes
    """
    from tessera.simulate import operating_system

    click.echo(operating_system.show_log(log, table), nl=False)


@os_group.command(name="list")
@click.option("--keys", is_flag=True, help="List the keys of a scenario file in the place of the scenarios.")
def list_scenarios(keys: bool) -> None:
    """List the scenarios, or the keys that a scenario file can have.

    \b
    Example:
      ./run tessera lab os list --keys
    """
    from tessera.core import scenarios
    from tessera.core.scenarios import KEYS
    from tessera.core.tables import print_table

    if keys:
        rows = [
            (k.name, "" if k.default is None else str(k.default), k.unit, k.rule(), k.meaning) for k in KEYS
        ]
        print_table(["key", "default", "unit", "value", "meaning"], rows)
        return
    print_table(
        ["scenario", "description"],
        [(name, scenarios.load_scenario(name).description) for name in scenarios.scenario_names()],
    )
