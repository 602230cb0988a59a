"""Readers of perf's logs: recorded files, written files, files made from rows, and any text."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.core.errors import TesseraError
from tessera.counters.perf.log import parse_log, read_log
from tessera.counters.perf.row import NOT_COUNTED, NOT_SUPPORTED

from .builders import LOGS

FIVE = [("page-faults:u", ""), ("context-switches", ""), ("cpu-migrations", ""), ("cycles:u", NOT_SUPPORTED)]


@pytest.mark.parametrize("form, faults", [("semicolon", 47), ("comma", 46), ("tab", 46), ("json", 45)])
def test_recorded_forms(form, faults):
    rows = read_log(LOGS / f"recorded-6.1-{form}.perf")
    assert rows[0].event == "task-clock" and rows[0].unit == "msec"
    assert [(r.event.removesuffix(":u") if form == "tab" else r.event, r.missing) for r in rows[1:5]] == (
        [(e.removesuffix(":u"), m) for e, m in FIVE] if form == "tab" else FIVE
    )
    assert rows[1].value == faults and rows[4].value is None
    assert rows[5].event == "H_loads_u"
    assert all(row.percent == 100 and not row.part and row.seconds is None for row in rows)


def test_events_with_commas():
    rows = read_log(LOGS / "recorded-6.1-comma.perf")
    assert (rows[6].event, rows[6].value, rows[6].running_ns) == (
        "msr/event=0x00,config=0x00/",
        853740,
        430247,
    )


@pytest.mark.parametrize("name, spread", [("repeated", "1.48"), ("json-repeated", "0.00")])
def test_recorded_repeats(name, spread):
    rows = read_log(LOGS / f"recorded-6.1-{name}.perf")
    assert rows[1].spread_percent == Decimal(spread) and rows[1].running_ns > 300_000
    assert rows[4].missing == NOT_SUPPORTED


def test_recorded_intervals():
    rows = read_log(LOGS / "recorded-6.1-intervals.perf")
    assert [str(row.seconds) for row in rows[::3]] == ["0.100549556", "0.201211433", "0.248229423"]
    assert [row.value for row in rows if row.event == "page-faults"] == [74, None, 0]
    assert rows[3].missing == NOT_COUNTED
    summed = read_log(LOGS / "recorded-6.1-intervals-summary.perf")
    assert len(summed) == 4  # the summary repeats the intervals
    assert str(read_log(LOGS / "recorded-6.1-json-intervals.perf")[3].seconds) == "0.168184001"


@pytest.mark.parametrize(
    "name, parts",
    [
        ("cpus", ["CPU0", "CPU1"]),
        ("json-cpus", ["cpu 0", "cpu 1"]),
        ("per-socket", ["S0"]),
        ("per-core", ["S0-D0-C0", "S0-D0-C1"]),
        ("per-die", ["S0-D0"]),
        ("per-node", ["N0"]),
        ("per-thread", ["sleep-20669"]),
    ],
)
def test_recorded_parts(name, parts):
    rows = read_log(LOGS / f"recorded-6.1-{name}.perf")
    assert sorted({row.part for row in rows}) == parts
    assert {row.event for row in rows} >= {"task-clock", "page-faults"}


def test_words_decide_and_not_the_percentage():
    """One member without support empties its group, which perf marks with 100.00."""
    rows = read_log(LOGS / "recorded-6.1-not-counted.perf")
    assert [row.missing for row in rows] == [NOT_COUNTED, NOT_COUNTED, NOT_SUPPORTED, ""]
    assert {row.percent for row in rows} == {100}
    assert parse_log("<not-counted>,,cycles,0,100.00")[0].missing == NOT_COUNTED


def test_the_table_for_people_is_an_error():
    with pytest.raises(TesseraError) as error:
        read_log(LOGS / "recorded-6.1-for-people.perf")
    assert error.value.code == "perf-table"


def test_lines_of_metrics_only_are_skipped():
    assert len(read_log(LOGS / "written-6.12-zen3.json")) == 4
    assert len(read_log(LOGS / "written-6.12-hybrid.perf")) == 10


@pytest.mark.parametrize(
    "line",
    [
        "1;;cycles",
        "1;;cycles;5",
        "1;;cycles;5;none",
        "-1;;cycles;5;100.00",
        "nan;;cycles;5;100.00",
        "1e9;;cycles;5;100.00",
        "<no>;;cycles;5",
        "1;;;5;100.00",
        "cycles: 5",
        '{"counter-value": 1',
        '{"counter-value": "1", "event": "cycles", "event-runtime": 5}',
        '{"counter-value": "x", "event": "cycles", "event-runtime": 5, "pcnt-running": 100}',
        '{"counter-value": "1", "event": "", "event-runtime": 5, "pcnt-running": 100}',
        '{"counter-value": NaN, "event": "cycles", "event-runtime": 5, "pcnt-running": 100}',
        '{"event": "cycles", "event-runtime": 5, "pcnt-running": 100}',
    ],
)
def test_other_lines_are_errors_with_their_number(line):
    good = "1;;instructions;5;100.00;;"
    with pytest.raises(TesseraError, match="line 2") as error:
        parse_log(f"{good}\n{line}\n")
    assert error.value.code == "perf-row"


def test_decimal_commas_are_named():
    with pytest.raises(TesseraError, match="LC_ALL=C") as error:
        parse_log("1;;cycles;5;100.00;;\n0,47;msec;task-clock;469150;100,00;0,376;CPUs utilized\n")
    assert "decimal" in error.value.found


@pytest.mark.parametrize("text", ["", "\n\n", "# started on Tue Nov 24 09:17:18 2026\n"])
def test_a_log_without_rows(text):
    with pytest.raises(TesseraError) as error:
        parse_log(text)
    assert error.value.code == "perf-empty"


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(TesseraError):
        read_log(tmp_path / "none")
    (tmp_path / "bytes").write_bytes(b"1;;cycles\xff;5;100.00")
    with pytest.raises(TesseraError, match="byte 9"):
        read_log(tmp_path / "bytes")


EVENTS = st.sampled_from(
    ["cycles", "instructions:u", "H_loads_u", "r1008:uk", "cpu/event=0x08,umask=0x10/u", "cpu_core/cycles/"]
)
COUNTS = st.integers(0, 2**53) | st.sampled_from(["<not counted>", "<not supported>"])
PREFIXES = st.sampled_from(["", "CPU3", "S1;4", "S0-D0-C1;2", "N0;8", "S0-D1-L3-ID4;2", "ssh-agent-77"])
ROWS = st.tuples(COUNTS, EVENTS, st.integers(0, 2**63), st.integers(0, 10_000))


@given(
    st.lists(ROWS, min_size=1, max_size=8), PREFIXES, st.booleans(), st.booleans(), st.sampled_from(";,|\t")
)
@settings(max_examples=300)
def test_what_perf_prints_comes_back(rows, prefix, timed, repeated, sep):
    """Printed as perf's stat-display.c prints it, then read."""
    lines = []
    for value, event, running, percent in rows:
        fields = ["     1.000123456"] if timed else []
        fields += prefix.split(";") if prefix else []
        fields += [str(value), "", event] + (["3.17%"] if repeated else [])
        fields += [str(running), f"{percent / 100:.2f}", "1.50", "insn per cycle"]
        lines.append(sep.join(fields))
    found = parse_log("# started on Mon Jan 29 10:12:07 2018\n\n" + "\n".join(lines) + "\n")
    assert len(found) == len(rows)
    for row, (value, event, running, percent) in zip(found, rows, strict=True):
        assert (row.event, row.running_ns) == (event, running)
        assert row.percent == Decimal(percent) / 100
        assert row.value == (value if isinstance(value, int) else None)
        assert row.missing == (value.strip("<>") if isinstance(value, str) else "")
        assert row.part == prefix.split(";")[0]
        assert row.seconds == (Decimal("1.000123456") if timed else None)
        assert row.spread_percent == (Decimal("3.17") if repeated else None)


@given(st.lists(ROWS, min_size=1, max_size=8))
@settings(max_examples=100)
def test_what_perf_prints_as_json_comes_back(rows):
    lines = []
    for value, event, running, percent in rows:
        text = f"{value:d}.000000" if isinstance(value, int) else value
        head = {"counter-value": text, "unit": "", "event": event, "event-runtime": running}
        lines.append(json.dumps(head | {"pcnt-running": percent / 100, "metric-value": None}))
    for row, (value, event, running, percent) in zip(parse_log("\n".join(lines)), rows, strict=True):
        assert (row.event, row.running_ns, row.percent) == (event, running, Decimal(str(percent / 100)))
        assert row.value == (value if isinstance(value, int) else None)


PIECES = st.sampled_from(
    [*";,\n/%{}\":#1 \t\x00é²٣", "0.5", "100.00", "cycles", "CPU0", "S0", "summary", "<not counted>",
     "1.000000001", '"counter-value"', '"event"']
)  # fmt: skip


@given(st.text(max_size=200) | st.lists(PIECES, max_size=40).map("".join))
@settings(max_examples=2000)
def test_any_text_is_rows_or_an_error(text):
    try:
        rows = parse_log(text)
    except TesseraError:
        return
    assert rows
    for row in rows:
        assert row.event and (row.value is None) == bool(row.missing)
        assert row.percent >= 0 and row.running_ns >= 0


@given(st.binary(max_size=100))
@settings(max_examples=200)
def test_any_line_of_json_is_a_row_or_an_error(data):
    text = '{"counter-value" : "' + data.decode("latin-1") + '"}'
    with pytest.raises(TesseraError):
        parse_log(text)
