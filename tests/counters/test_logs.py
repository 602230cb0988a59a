"""Readers of perf's logs: recorded files, written files, files made from rows, and any text."""

from __future__ import annotations

import re
import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.core.errors import TesseraError
from tessera.machine.perf.log import parse_log, read_log
from tessera.machine.perf.row import NOT_COUNTED, NOT_SUPPORTED

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


#: Recorded logs: rows, page faults in all of them, intervals. Most have output of the program, too.
READ = {
    "output-table": (4, 183, 0),
    "output-json": (4, 183, 0),
    "output-intervals-table": (16, 182, 4),
    "output-intervals-semicolon": (12, 181, 3),
    "output-intervals-json": (16, 180, 4),
    "german-table": (4, 197, 0),
    "german-json": (4, 197, 0),
    "de_DE-table": (4, 3002, 0),
    "fr_FR-table": (4, 2986, 0),
    "de_CH-table": (4, 2995, 0),
    "en_IN-table": (4, 2990, 0),
    "space": (4, 57, 0),
    "colons": (4, 58, 0),
    "intervals-cpus": (16, 2471, 2),
    "cgroup": (2, 1814, 0),
    "cgroup-table": (2, 1963, 0),
}
REFUSED = {
    "append-semicolon": ("perf-two-runs", "line 7"),
    "append-table": ("perf-two-runs", "line 17"),
    "append-json-intervals": ("perf-two-runs", "line 15"),
    "output-semicolon": ("perf-row", "line 5"),
    "german-semicolon": ("perf-row", "line 5"),
    "german-comma": ("perf-row", "decimal"),
    "table-cpus": ("perf-table-parts", "CPU0"),
    "metrics-only": ("perf-empty", "--metric-only"),
    "letter": ("perf-empty", "line 6"),
}


@pytest.mark.parametrize("name", READ)
def test_recorded_logs_are_read(name):
    rows = read_log(LOGS / f"recorded-6.1-{name}.perf")
    faults = sum(row.value or 0 for row in rows if row.event == "page-faults")
    assert (len(rows), faults, len({row.seconds for row in rows} - {None})) == READ[name]


@pytest.mark.parametrize("name", REFUSED)
def test_recorded_logs_are_refused_by_name(name):
    with pytest.raises(TesseraError) as error:
        read_log(LOGS / f"recorded-6.1-{name}.perf")
    code, value = REFUSED[name]
    assert error.value.code == code and value in str(error.value)


def test_lines_of_metrics_only_are_skipped():
    assert len(read_log(LOGS / "written-6.12-zen3.json")) == 4
    assert len(read_log(LOGS / "written-6.12-hybrid.perf")) == 10


@pytest.mark.parametrize(
    "line",
    [
        "1;;cycles",
        "1;;cycles;5",
        "1;;cycles;5;none",
        "1;;cycles;5;100",
        "-1;;cycles;5;100.00",
        "nan;;cycles;5;100.00",
        "1e9;;cycles;5;100.00",
        "1.234;;cycles;5;100.00",
        "1;;;5;100.00",
        "done 1;;cycles;5;100.00",
        "1;cycles;5;100.00",
        "1;;cycles\x005;100.00",
        "<no>;;instructions;5",
        "1;;instructions",
        "<not counted>;;cycles",
    ],
)
@pytest.mark.parametrize("first", ["1;;instructions;5;100.00;;", "hello"])
def test_damaged_rows_are_errors_with_their_number(line, first):
    rows = "2;;page-faults;5;100.00;;\n2;;instructions;5;100.00;;"
    with pytest.raises(TesseraError, match="line 2") as error:
        parse_log(f"{first}\n{line}\n{rows}\n")
    assert error.value.code == "perf-row"


GOOD = '{"counter-value": "1.000000", "event": "instructions", "event-runtime": 5, "pcnt-running": 100.00}'


@pytest.mark.parametrize(
    "line",
    [
        '{"counter-value": 1',
        '{"counter-value": "1", "event": "cycles", "event-runtime": 5}',
        '{"counter-value": "x", "event": "cycles", "event-runtime": 5, "pcnt-running": 100}',
        '{"counter-value": "1", "event": "cycles", "event-runtime": 5, "pcnt-running": 100}',
        '{"counter-value": "1.5", "event": "cycles", "event-runtime": 5, "pcnt-running": 100}',
        '{"counter-value": "1", "event": "", "event-runtime": 5, "pcnt-running": 100}',
        '{"counter-value": NaN, "event": "cycles", "event-runtime": 5, "pcnt-running": 100}',
        '{"event": "cycles", "event-runtime": 5, "pcnt-running": 100}',
        GOOD.replace("{", '{"counter-value": "2.000000", '),
        f"{GOOD}{GOOD}",
        f'{{"x": {GOOD}}}',
    ],
)
def test_damaged_objects_are_errors_with_their_number(line):
    with pytest.raises(TesseraError, match="line 2") as error:
        parse_log(f"{GOOD}\n{line}\n")
    assert error.value.code == "perf-row"


TIMED = "     {}.000000001;{};;{};5;100.00;;"
TABLE = [
    " Performance counter stats for 'true':",
    "             4,000      cycles:u",
    "       1.5 seconds time elapsed",
]


@pytest.mark.parametrize(
    "code, lines",
    [
        ("perf-forms", ["1;;cycles;5;100.00;;", GOOD]),
        ("perf-forms", ["1;;cycles;5;100.00;;", "1,,instructions,5,100.00,,"]),
        ("perf-forms", ["1;;cycles;5;100.00;;", *TABLE]),
        ("perf-two-runs", ["1;;cycles;5;100.00;;", TIMED.format(1, 1, "cycles")]),
        ("perf-two-runs", [TIMED.format(2, 1, "cycles"), TIMED.format(1, 1, "cycles")]),
        ("perf-two-runs", [*TABLE, *TABLE]),
        ("perf-interval", [TIMED.format(1, 1, "a"), TIMED.format(1, 1, "b"), TIMED.format(2, 1, "a")]),
        ("perf-interval", [TIMED.format(1, 1, "a"), TIMED.format(2, 1, "a"), TIMED.format(2, 1, "b")]),
        ("perf-summary", [TIMED.format(1, 1, "a"), TIMED.format(2, 1, "a"), "3;;a;5;100.00;;"]),
        ("perf-summary", [TIMED.format(1, 1, "a"), "1;;b;5;100.00;;"]),
        ("perf-row", TABLE[:2]),
        ("perf-row", [TABLE[0], "         4,000      cycles:u", TABLE[2]]),
        ("perf-row", [TABLE[0], "   100 iterations", TABLE[2]]),
        ("perf-locale", [*TABLE[:2], "             4.000      instructions:u", TABLE[2]]),
        ("perf-locale", [*TABLE[:2], "              4,00 msec task-clock", TABLE[2]]),
    ],
)
def test_what_does_not_fit_together_is_refused(code, lines):
    with pytest.raises(TesseraError) as error:
        parse_log("\n".join(lines) + "\n")
    assert error.value.code == code and re.search(r"line \d+", error.value.asked)


def test_lines_of_the_program_are_no_rows():
    others = [
        "cycles: 5",
        "1;2;3",
        '{"event": "start"}',
        "   100 iterations",
        "cycles",
        "\x1b[1m50%\x1b[0m\r",
    ]
    (row,) = parse_log("\n".join([*others, "\x1b[31m7;;cycles;5;100.00;;\x1b[m", *others]))
    assert (row.line, row.value) == (7, 7)
    (row,) = parse_log("\n".join([*others, *TABLE, *others]))
    assert (row.event, row.value, row.running_ns, row.percent) == ("cycles:u", 4000, None, 100)


def test_decimal_commas():
    """Between other separators they are read; between commas they are named."""
    (row,) = parse_log("0,47;msec;task-clock;469150;66,70;0,376;CPUs utilized\n")
    assert (row.value, row.percent) == (Decimal("0.47"), Decimal("66.70"))
    with pytest.raises(TesseraError, match="LC_ALL=C") as error:
        parse_log("0,47,msec,task-clock,469150,100,00,0,CPUs utilized\n")
    assert "decimal" in error.value.found


def test_old_names_of_clocks_in_the_table():
    (row,) = parse_log(
        "\n".join([TABLE[0], "          0.772345      task-clock (msec)         #    0.8 CPUs", TABLE[2]])
    )
    assert (row.event, row.value) == ("task-clock", Decimal("0.772345"))


#: Perf's own formats: without a column of units before Linux 3.14, and with brackets before 4.1.
WITH_PERCENTAGES = {
    "3.13": """
       1234.567890 task-clock                #    0.999 CPUs utilized
     3,000,000,000 cycles                    #    2.430 GHz                     [33.34%]
         1,000,000 instructions              #    0.33  insns per cycle
                                             #    0.45  stalled cycles per insn [50.01%]
        12,345,678 r1008                                                        [ 6.68%]
     <not counted> r0408
""",
    "3.16": """
       1234.567890      task-clock (msec)         #    0.999 CPUs utilized
     3,000,000,000      cycles                    #    2.430 GHz                     [33.34%]
         1,000,000      instructions              #    0.33  insns per cycle
                                                  #    0.45  stalled cycles per insn [50.01%]
        12,345,678      r1008                                                        [ 6.68%]
     <not counted>      r0408
""",
    "5.10": """
          1,234.57 msec task-clock                #    0.999 CPUs utilized
     3,000,000,000      cycles                    #    2.430 GHz                      (33.34%)
         1,000,000      instructions              #    0.33  insn per cycle
                                                  #    0.45  stalled cycles per insn  (50.01%)
        12,345,678      r1008                                                         (6.68%)
                        TopdownL1                 #     26.5 %  tma_backend_bound
                                                  #     31.7 %  tma_frontend_bound    (12.01%)
     <not counted>      r0408                                                         (0.00%)
             TopdownL1 (cpu_core)                 #     17.8 %  tma_backend_bound
                                                  #     19.8 %  tma_bad_speculation   (66.66%)
""",
}


@pytest.mark.parametrize("version", WITH_PERCENTAGES)
def test_percentages_of_all_versions_are_seen(version):
    """Also behind the second metric of an event, where they stand on a line of their own."""
    rows = parse_log("\n".join([TABLE[0], WITH_PERCENTAGES[version], TABLE[2]]))
    assert [(row.event, row.value, str(row.percent)) for row in rows[1:4]] == [
        ("cycles", 3 * 10**9, "33.34"), ("instructions", 10**6, "50.01"), ("r1008", 12345678, "6.68"),
    ]  # fmt: skip
    assert (rows[0].event, rows[0].percent) == ("task-clock", 100) and len(rows) == 5
    assert (rows[4].event, rows[4].missing) == ("r0408", NOT_COUNTED)


def test_the_spread_behind_a_second_metric_is_seen():
    lines = [" Performance counter stats for 'true' (3 runs):",
             "             4,000      cycles:u                  #  0.1 GHz",
             "                                                  #  0.4 per insn  ( +-  2.30% )  (99.99%)",
             TABLE[2]]  # fmt: skip
    (row,) = parse_log("\n".join(lines))
    assert (row.line, str(row.spread_percent), str(row.percent)) == (2, "2.30", "99.99")


@pytest.mark.parametrize("mark", [",", ".", "\u202f", "\u00a0", "\u2019"])
@pytest.mark.parametrize("time", ["", "     1.000100200 "])
@pytest.mark.parametrize("in_bytes", [False, True])
def test_values_that_are_wider_than_their_column_are_read(mark, time, in_bytes):
    """64 cores at 3 GHz count 15 digits in 9 minutes; in French, 10 digits have 19 bytes."""
    values = 10**9 - 1, 3 * 10**9, 10**12, 10**14 - 1, 10**14, 1_234_567_890_123_456
    lines = []
    for n, value in enumerate(values):
        text = f"{value:,}".replace(",", mark)
        width = len(text.encode()) if in_bytes else len(text)
        lines.append(f"{time}{' ' * (18 - width)}{text}      cycles:u{n}")
    head, end = ("#           time             counts unit events", "") if time else (TABLE[0], TABLE[2])
    assert tuple(row.value for row in parse_log("\n".join([head, *lines, end]))) == values


@pytest.mark.parametrize("whole", ["system wide", "CPU(s) 0-3,5"])
def test_a_table_of_the_machine_is_of_a_part(whole):
    """The import then takes it only with --sum-parts, as counts of every program."""
    (row,) = parse_log("\n".join([f" Performance counter stats for '{whole}':", *TABLE[1:]]))
    assert row.part == whole


@pytest.mark.parametrize(
    "text, line, word",
    [
        ("\n".join(f"    {line}" for line in TABLE), 1, "stand before"),
        ("\n".join(f"2024-05-01T10:11:12.1234567Z {line}" for line in TABLE), 1, "stand before"),
        ("hello\napp_1  | 1;;cycles;5;100.00;;", 2, "stand before"),
        ("hello\n3000;cycles\n", 2, "Linux 4.1"),
        ("hello\n3000,,cycles:u\n<not counted>,,r1008\n", 2, "Linux 4.1"),
    ],
)
def test_an_empty_log_has_its_reason(text, line, word):
    with pytest.raises(TesseraError, match=f"line {line} ") as error:
        parse_log(text)
    assert error.value.code == "perf-empty" and word in error.value.found


@pytest.mark.parametrize("line", [" " * 20_000 + "x", " " * 20_000 + "#", "1 " * 20_000, "1" * 20_000])
def test_long_lines_of_blanks_and_digits_take_no_time(line):
    start = time.process_time()
    for lines in ([TABLE[0], line, TABLE[2]], [TABLE[0], TABLE[1] + line, TABLE[2]], [line]):
        try:
            parse_log("\n".join(lines))
        except TesseraError:
            pass
    assert time.process_time() - start < 2


@pytest.mark.parametrize("text", ["", "\n\n", "# started on Tue Nov 24 09:17:18 2026\n"])
def test_a_log_without_rows(text):
    with pytest.raises(TesseraError) as error:
        parse_log(text)
    assert error.value.code == "perf-empty"


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(TesseraError):
        read_log(tmp_path / "none")
    (tmp_path / "bytes").write_bytes(b"caf\xe9\n1;;cycles\xff;5;100.00\n1;;page-faults;5;100.00")
    with pytest.raises(TesseraError, match="line 2"):
        read_log(tmp_path / "bytes")
    (tmp_path / "bytes").write_bytes("1;;cycles;5;100.00".encode("utf-16-le"))
    with pytest.raises(TesseraError, match="UTF-16"):
        read_log(tmp_path / "bytes")
    (tmp_path / "bytes").write_bytes(b"PERFILE2" + bytes(20))
    with pytest.raises(TesseraError, match="perf record"):
        read_log(tmp_path / "bytes")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(tmp_path, encoding, end):
    path = tmp_path / "log"
    path.write_bytes(end.join(["# started on Mon", "", "µs", "1;;cycles;5;100.00;;", ""]).encode(encoding))
    assert [(row.line, row.value) for row in read_log(path)] == [(4, 1)]


PIECES = st.sampled_from(
    [*";,\n/%{}\":#1 \t\x00é²٣", "0.5", "100.00", "cycles", "CPU0", "S0", "summary", "<not counted>",
     "1.000000001", '"counter-value"', '"event"']
)  # fmt: skip


@given(st.text(max_size=200) | st.lists(PIECES, max_size=40).map("".join))
@settings(max_examples=800)
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
