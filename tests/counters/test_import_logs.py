"""``tessera measure import`` of logs that people have: output of the program, intervals, idle times."""

from __future__ import annotations

import csv

import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError

from .builders import RUN, line

OUTPUT = [
    "N = 1000",
    "   100 iterations",
    "cycles: 17",
    "Time: 1,234.5 s",
    '{"event": "end", "M_loads_u": 3}',
    "0.5",
]
HEAD, END = (
    [" Performance counter stats for 'gups --size 1GB':", ""],
    ["", "       2.0 seconds time elapsed", ""],
)


def table(counts: dict, group: str = ",") -> list[str]:
    return [f"{f'{value:,}'.replace(',', group):>18}      {event:<25}" for event, value in counts.items()]


def json_rows(counts: dict, time: str = "") -> list[str]:
    head = f'"interval" : {time}, ' if time else ""
    return [
        f'{{{head}"counter-value" : "{value}.000000", "unit" : "", "event" : "{event}", '
        '"event-runtime" : 1000000000, "pcnt-running" : 100.00, "metric-value" : 0.0, "metric-unit" : ""}'
        for event, value in counts.items()
    ]  # fmt: skip


def timed(seconds: int, counts: dict) -> list[str]:
    return [
        f"     {seconds}.000000001;{line(event, value, 1_000_000_000)}" for event, value in counts.items()
    ]


HALF = {event: value // 2 for event, value in RUN.items()}
ROWS = [line(event, value) for event, value in RUN.items()]
IDLE = [f"     2.000000001;{line(event, '<not counted>', 0)}" for event in RUN]
FORMS = {
    "rows": ROWS,
    "table": [*HEAD, *table(RUN), *END],
    "table, French": [*HEAD, *table(RUN, "\u202f"), *END],
    "JSON": json_rows(RUN),
    "intervals": [*timed(1, HALF), *IDLE, *OUTPUT, *timed(3, HALF), *ROWS],
    "JSON, intervals": [*json_rows(HALF, "1.0"), *OUTPUT, *json_rows(HALF, "2.0"), *json_rows(RUN)],
    "intervals, table": [
        "#           time             counts unit events",
        *[f"     1.000000001 {row}" for row in table(HALF)],
        *OUTPUT,
        *[f"done      2.000000001 {row}" for row in table(HALF)[:1]],
        *[f"     2.000000001 {row}" for row in table(HALF)[1:]],
        *HEAD, *table(RUN), *END,
    ],
}  # fmt: skip


def imported(folder, lines, *options):
    folder.mkdir(exist_ok=True)
    (folder / "4kb.perf").write_text("\n".join(lines) + "\n")
    out = folder.parent / "cells.csv"
    argv = ["measure", "import", "--class", "broadwell", "--workload", "gups", "--out", f"{out}"]
    done = CliRunner().invoke(cli, [*argv, *options, f"{folder}"])
    if done.exit_code:
        raise done.exception
    with out.open(newline="") as stream:
        (row,) = csv.DictReader(stream)
    return tuple(
        int(float(row[name])) for name in ("runtime_cycles", "stlb_hits", "stlb_misses", "walk_cycles")
    )


@pytest.mark.parametrize("name", FORMS)
def test_logs_with_output_of_the_program(tmp_path, name):
    counts_out = tmp_path / "counts.csv"
    found = imported(tmp_path / "logs", [*OUTPUT, *FORMS[name], *OUTPUT], "--counts-out", f"{counts_out}")
    assert found == (4_000_000_000, 1_200_000, 5_700_000, 180_000_000)
    with counts_out.open(newline="") as stream:
        running = {row["running_ns"] for row in csv.DictReader(stream)}
    assert running == ({""} if "table" in name else {str(10**9)} if name == "JSON" else {str(2 * 10**9)})


REFUSED = {
    "an event twice": ("measure-counted-twice", [*ROWS, line("cycles:u", 4_000_000_001)]),
    "a control group": ("measure-cgroup", [row.replace(":u;", ":u;/x;") for row in ROWS]),
    "a CPU without an event": (
        "measure-parts-differ",
        [f"CPU{n};{row}" for n in (0, 1) for row in ROWS][:-1],
    ),
    "an interval that is cut": ("perf-interval", [*timed(1, HALF), *timed(2, HALF)[:-1]]),
    "an interval that is lost": ("perf-summary", [*timed(1, HALF), *ROWS]),
    "never counted": ("measure-not-counted", [row.replace("4000000000", "<not counted>") for row in ROWS]),
    "multiplexed in the table": (
        "measure-multiplexed",
        [*HEAD, *[f"{r}  (66.67%)" for r in table(RUN)], *END],
    ),
    "digits before a row": ("measure-rate", ["42" + ROWS[0], *ROWS[1:]]),
    "words before a row": ("perf-row", ["done " + ROWS[0], *ROWS[1:]]),
    "a fraction of an event": ("perf-row", [ROWS[0].replace("000;;", "000.25;;"), *ROWS[1:]]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_logs_that_are_refused(tmp_path, name):
    code, lines = REFUSED[name]
    with pytest.raises(TesseraError) as error:
        imported(tmp_path / "logs", lines, "--sum-parts")
    assert error.value.code == code
    assert not (tmp_path / "cells.csv").exists()
