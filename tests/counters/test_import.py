"""Logs to cells: numbers by hand, each error by its code, and the fit of models to imported cells."""

from __future__ import annotations

import csv

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.core.results.table_io import read_cells
from tessera.machine.counters.event_table import class_named
from tessera.measure.perf_log_import import ImportOptions, import_logs, logs_from_names, logs_from_table

from .builders import LOGS, RUN, line, write


def imported(paths, class_name="broadwell", **options):
    request = ImportOptions("gups", f"{class_name}-lab", class_named(class_name), **options)
    return import_logs(logs_from_names(paths), request)


def code_of(paths, class_name="broadwell", **options):
    with pytest.raises(TesseraError) as error:
        imported(paths, class_name, **options)
    return error.value.code


def test_one_run_in_one_pass(tmp_path):
    (row,) = imported([write(tmp_path / "4kb.data.perf")]).rows
    assert (row["layout"], row["status"], row["engine"]) == ("growing-0", "ok", "perf")
    assert (row["runtime_cycles"], row["instructions"]) == (4_000_000_000, 6_000_000_000)
    assert (row["stlb_hits"], row["stlb_misses"], row["walk_cycles"]) == (1_200_000, 5_700_000, 180_000_000)
    assert row["runtime_provenance"] == row["tlb_provenance"] == "measured"
    assert "runtime_cycles_ci95" not in row and "runtime_ns" not in row


@pytest.mark.parametrize(
    "name, class_name",
    [("written-4.15-broadwell.perf", "broadwell"), ("written-5.10-skylake-raw.perf", "skylake"),
     ("written-6.12-hybrid.perf", "goldencove")],
)  # fmt: skip
def test_forms_of_versions(tmp_path, name, class_name):
    """Codes, raw codes and hybrid names; the P-core's counts, since the E-cores did not run."""
    path = tmp_path / "2mb.perf"
    path.write_text((LOGS / name).read_text())
    (row,) = imported([path], class_name).rows
    assert row["layout"] == "growing-8"
    assert (row["stlb_hits"], row["stlb_misses"], row["walk_cycles"]) == (1_200_000, 5_700_000, 180_000_000)


def test_zen_has_no_c(tmp_path):
    path = tmp_path / "4kb.json"
    path.write_text((LOGS / "written-6.12-zen3.json").read_text())
    (row,) = imported([path], "zen3").rows
    assert (row["stlb_hits"], row["stlb_misses"]) == (1_200_000, 5_700_000)
    assert "walk_cycles" not in row and "zen3" in row["message"]


def test_passes_of_one_run(tmp_path):
    """R and instructions are counted in each pass: their means. Everything else once."""
    loads = {e: v for e, v in RUN.items() if "stores" not in e}
    stores = {e: v for e, v in RUN.items() if "loads" not in e} | {"cycles:u": 4_100_000_000}
    paths = [write(tmp_path / "4kb.loads.perf", loads), write(tmp_path / "4kb.stores.perf", stores)]
    (row,) = imported(paths).rows
    assert (row["runtime_cycles"], row["stlb_misses"]) == (4_050_000_000, 5_700_000)
    write(tmp_path / "4kb.stores.perf", stores | {"cycles:u": 4_300_000_000})  # 7.2% apart
    assert code_of(paths) == "measure-passes-disagree"
    assert code_of(paths[:1]) == "measure-role-missing"


def test_repeats(tmp_path):
    """Mean of 4.0, 4.1 and 4.2e9; t(0.975, 2) = 4.302653, s = 1e8: half-width 2.4841e8."""
    paths = [
        write(tmp_path / f"4kb.data.{n}.perf", RUN | {"cycles:u": 4_000_000_000 + n * 100_000_000})
        for n in range(3)
    ]
    (row,) = imported(paths).rows
    assert row["runtime_cycles"] == 4_100_000_000
    assert row["runtime_cycles_ci95"] == pytest.approx(4.302653 * 1e8 / 3**0.5, rel=1e-6)
    assert row["walk_cycles_ci95"] == 0 and "3 runs" in row["message"]
    rows = imported(paths, keep_repeats=True).rows
    assert [(r["repeat"], r["runtime_cycles"]) for r in rows] == [(0, 4e9), (1, 4.1e9), (2, 4.2e9)]


def test_intervals_are_added(tmp_path):
    half = {event: value // 2 for event, value in RUN.items()}
    lines = [f"     {n}.000000001;{line(e, v)}" for n in (1, 2) for e, v in half.items()]
    path = tmp_path / "4kb.perf"
    path.write_text("\n".join(lines))
    (row,) = imported([path]).rows
    assert (row["runtime_cycles"], row["walk_cycles"]) == (4_000_000_000, 180_000_000)


def test_means_of_perf_itself_are_noted(tmp_path):
    """`perf stat -r` writes means, with their standard error behind the event."""
    path = tmp_path / "4kb.perf"
    path.write_text("\n".join(line(f"{e};{n}.17%", v) for n, (e, v) in enumerate(RUN.items())))
    done = imported([path])
    assert done.rows[0]["walk_cycles"] == 180_000_000
    assert "8 counts" in done.notes[0] and "7.17%" in done.notes[0] and "C_stores_u" in done.notes[0]


def test_cpus_are_added_only_if_asked(tmp_path):
    half = {event: value // 2 for event, value in RUN.items()}
    path = tmp_path / "4kb.perf"
    path.write_text("\n".join(f"CPU{n};{line(e, v)}" for n in (0, 1) for e, v in half.items()))
    assert code_of([path]) == "measure-parts"
    assert imported([path], sum_parts=True).rows[0]["stlb_misses"] == 5_700_000


def test_walker_and_instruction_side(tmp_path):
    """Haswell counts walker loads where they hit: L2 is reached by L2 + L3 + memory (MICRO'20)."""
    caches = {
        f"walker_loads_{name}_u": n for name, n in (("L1", 1000), ("L2", 200), ("L3", 30), ("memory", 4))
    }
    code = {"instruction_H_u": 11, "instruction_M_u": 22, "instruction_C_u": 33, "program_L1d_loads_u": 99}
    (row,) = imported([write(tmp_path / "4kb.perf", RUN | caches | code)], "haswell").rows
    walker = [row[f"walker_{level}_loads"] for level in ("l1d", "l2", "l3", "dram")]
    assert walker == [1234, 234, 34, 4]
    assert [row[f"instruction_{name}"] for name in ("stlb_hits", "stlb_misses", "walk_cycles")] == [
        11,
        22,
        33,
    ]
    assert row["program_l1d_loads"] == 99 and "program_l2_loads" not in row


ERRORS = {
    "multiplexed": ("measure-multiplexed", {"C_loads_u": ("150000000", 1_000_000_000, "50.00")}),
    "not counted": ("measure-not-counted", {"C_loads_u": ("<not counted>", 0, "100.00")}),
    "no time on a counter": ("measure-not-counted", {"C_loads_u": ("5", 0, "100.00")}),
    "not supported": ("measure-not-supported", {"C_loads_u": ("<not supported>", 0, "100.00")}),
    "unknown event": ("event-unknown", {"branch-misses:u": ("5", 2_000_000_000, "100.00")}),
    "other mode": ("mode-mixed", {"M_loads_4KB_uk": ("5", 2_000_000_000, "100.00")}),
    "kernel alone": ("mode-mixed", {"M_loads_4KB:k": ("5", 2_000_000_000, "100.00")}),
    "hidden mode": ("mode-hidden", {"M_loads_4KB": ("5", 2_000_000_000, "100.00")}),
    "C above two walkers": ("measure-bound", {"C_loads_u": ("8000000001", 2_000_000_000, "100.00")}),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(tmp_path, name):
    code, rows = ERRORS[name]
    kept = [line(event, value) for event, value in RUN.items() if event not in rows]
    path = tmp_path / "4kb.data.perf"
    path.write_text("\n".join(kept + [line(event, *row) for event, row in rows.items()]))
    assert code_of([path]) == code


@pytest.mark.parametrize("quantity", [event for event in RUN if event != "instructions:u"])
def test_each_part_is_needed(tmp_path, quantity):
    assert code_of([write(tmp_path / "4kb.perf", **{quantity: None})]) == "measure-role-missing"


def test_the_written_log_of_a_multiplexed_run_is_refused(tmp_path):
    path = tmp_path / "4kb.perf"
    path.write_text((LOGS / "written-4.15-multiplexed.perf").read_text())
    assert code_of([path]) == "measure-multiplexed"


@pytest.mark.parametrize(
    "running, percent, good",
    [(2_000_000_000, "99.90", True), (2_000_000_000, "99.89", False), (9_000, "99.80", True)],
)
def test_members_of_a_group_start_late(tmp_path, running, percent, good):
    """Up to 0.1% of the time or 10 us may be missing; the note names such counts."""
    path = tmp_path / "4kb.perf"
    rows = [line(e, v) for e, v in RUN.items() if e != "H_loads_u"]
    path.write_text("\n".join([*rows, line("H_loads_u", 1_000_000, running, percent)]))
    if good:
        assert percent in imported([path]).notes[0]
    else:
        assert code_of([path]) == "measure-multiplexed"


def test_mode_that_no_name_shows(tmp_path):
    shown = {event.split(":")[0].removesuffix("_u"): value for event, value in RUN.items()}
    path = write(tmp_path / "4kb.perf", shown)
    assert code_of([path]) == "mode-hidden"
    assert "mode uk" in imported([path], mode="uk").rows[0]["message"]
    assert code_of([write(tmp_path / "2mb.perf")], mode="uk") == "mode-mixed"


def test_modes_differ_between_files(tmp_path):
    kernel = {event[:-1] + "uk": value for event, value in RUN.items()}
    paths = [write(tmp_path / "4kb.perf"), write(tmp_path / "2mb.perf", kernel)]
    assert code_of(paths) == "mode-mixed"


def test_both_types_of_cores_ran(tmp_path):
    text = (
        (LOGS / "written-6.12-hybrid.perf")
        .read_text()
        .replace("<not counted>;;cpu_atom/cycles", "7;;cpu_atom/cycles")
    )
    (tmp_path / "4kb.perf").write_text(text)
    assert code_of([tmp_path / "4kb.perf"], "goldencove") == "event-other-core"


def test_an_event_in_two_logs_of_a_run(tmp_path):
    paths = [write(tmp_path / "4kb.a.perf"), write(tmp_path / "4kb.b.perf")]
    assert code_of(paths) == "measure-counted-twice"


def test_events_that_are_ignored(tmp_path):
    path = write(tmp_path / "4kb.perf", **{"branch-misses:u": 5})
    assert imported([path], ignore=["branch-misses:u"]).rows[0]["status"] == "ok"


def test_instructions_that_differ_are_noted(tmp_path):
    paths = [write(tmp_path / "4kb.perf"), write(tmp_path / "2mb.perf", **{"instructions:u": 6_060_000_000})]
    assert "0.99%" in imported(paths).notes[0]


@pytest.mark.parametrize("name", ["noname", ".perf", "4kb.1.2.perf", "4kb.1.data.perf", "a.b.c.d.perf"])
def test_names_that_do_not_say_the_layout(tmp_path, name):
    assert code_of([write(tmp_path / name)]) == "log-name"


def test_layouts_that_differ_only_in_their_case_are_refused(tmp_path):
    logs = [write(tmp_path / name) for name in ("Hot.data.perf", "hot.data.perf")]
    assert code_of(logs) == "log-name" and len(imported(logs[:1]).rows) == 1
    (tmp_path / "runs.csv").write_text("file,layout\nHot.data.perf,a\nhot.data.perf,A\n")
    with pytest.raises(TesseraError, match="hot.data.perf.*layout A.*Hot.data.perf"):
        logs_from_table(tmp_path / "runs.csv")


def test_a_table_names_the_logs(tmp_path):
    write(tmp_path / "logs" / "run 7.txt")
    write(tmp_path / "logs" / "run 8.txt")
    table = tmp_path / "runs.csv"
    table.write_text("file,layout,repeat\nlogs/run 7.txt,2mb,0\nlogs/run 8.txt,growing-8,1\n")
    assert [(f.layout, f.repeat) for f in logs_from_table(table)] == [("growing-8", 0), ("growing-8", 1)]
    for text in (
        "", "file\n", "file,layout\n", "file,layout\nx.txt,4kb\n",
        "file,layout,repeat\nlogs/run 7.txt,4kb,-1\n",
        f"file,layout,repeat\nlogs/run 7.txt,4kb,{'9' * 5000}\n", f"file,layout\n{'x' * 5000},4kb\n",
        "file,layout\nlogs/run 7.txt,4kb\nlogs/run 7.txt,2mb\n", "file,layout\nlogs/run 7.txt\n",
    ):  # fmt: skip
        table.write_text(text)
        with pytest.raises(TesseraError):
            logs_from_table(table)


def samples():
    """54 made-up layouts: (layout, R, H, M, C), with C > R in some, as two walkers allow."""
    found = []
    for n in range(54):
        misses = 9_000_000 - n * 150_001
        hits, cycles = 1_000_000 + n * 70_001, misses * (400 + n % 7)
        name = f"growing-{n}" if n < 9 else f"random-{n}"
        found.append((name, 1_000_000_000 + cycles // 2 + hits * 5, hits, misses, cycles))
    return found


def record(folder):
    """Logs of the layouts in two passes, with three quarters of H, M and C in loads."""
    for layout, runtime, *parts in samples():
        for side in ("loads", "stores"):
            counts = {"cycles:u": runtime, "instructions:u": 6_000_000_000}
            for symbol, value in zip("HMC", parts, strict=True):
                loads = value * 3 // 4
                counts[f"{symbol}_{side}_u"] = loads if side == "loads" else value - loads
            write(folder / f"{layout}.{side}.perf", counts)


def test_imported_cells_are_fitted(tmp_path):
    """R, H, M and C come back as they went in, and every model of the paper is fitted to them."""
    record(tmp_path / "logs")
    argv = [
        "measure",
        "import",
        "--class",
        "broadwell",
        "--workload",
        "gups",
        "--out",
        f"{tmp_path}/cells.csv",
    ]
    done = CliRunner().invoke(cli, [*argv, "--counts-out", f"{tmp_path}/counts.csv", f"{tmp_path}/logs"])
    assert done.exit_code == 0, done.output
    cells = read_cells(tmp_path / "cells.csv").set_index("layout")
    columns = ["runtime_cycles", "stlb_hits", "stlb_misses", "walk_cycles"]
    for layout, *numbers in samples():
        assert list(cells.loc[layout, columns]) == numbers
    assert (cells["walk_cycles"] > cells["runtime_cycles"]).any()
    assert set(cells["platform"]) == {"broadwell-imported"}
    counts = pd.read_csv(tmp_path / "counts.csv")
    assert len(counts) == 54 * 2 * 5
    argv = ["models", "fit", "--samples", f"{tmp_path}/cells.csv", "--out", f"{tmp_path}/fit"]
    fitted = CliRunner().invoke(cli, argv)
    assert fitted.exit_code == 0, fitted.output
    errors = pd.read_csv(tmp_path / "fit" / "errors.csv")
    assert len(errors["model"].unique()) == 9 and errors["message"].isna().all()


def test_the_fit_names_the_models_that_need_c(tmp_path):
    for layout in ("4kb", "2mb", "growing-3"):
        path = tmp_path / "logs" / f"{layout}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text((LOGS / "written-6.12-zen3.json").read_text())
    argv = ["measure", "import", "--class", "zen3", "--workload", "gups", "--out", f"{tmp_path}/cells.csv"]
    done = CliRunner().invoke(cli, [*argv, f"{tmp_path}/logs"])
    assert done.exit_code == 0, done.output
    fitted = CliRunner().invoke(
        cli, ["models", "fit", "--samples", f"{tmp_path}/cells.csv", "--out", f"{tmp_path}/f"]
    )
    assert fitted.exception.code == "not-counted"
    assert "walk_cycles" in fitted.exception.asked and "mosmodel" in fitted.exception.found
    assert not (tmp_path / "f").exists()


def test_keep_going_writes_failed_rows(tmp_path):
    write(tmp_path / "logs" / "4kb.perf")
    write(tmp_path / "logs" / "2mb.perf", C_loads_u="<not counted>")
    argv = [
        "measure",
        "import",
        "--class",
        "broadwell",
        "--workload",
        "gups",
        "--out",
        f"{tmp_path}/cells.csv",
    ]
    done = CliRunner().invoke(cli, [*argv, "--keep-going", f"{tmp_path}/logs"])
    assert done.exit_code == 1
    with (tmp_path / "cells.csv").open(newline="") as stream:
        rows = {row["layout"]: row for row in csv.DictReader(stream)}
    assert rows["growing-0"]["status"] == "ok"
    assert rows["growing-8"]["status"] == "failed" and "C_loads_u" in rows["growing-8"]["message"]
    assert rows["growing-8"]["runtime_cycles"] == rows["growing-8"]["runtime_provenance"] == ""


@pytest.mark.parametrize(
    "words",
    [
        ["--class", "broadwel"],
        ["--class", "broadwell", "--platform", "haswell-lab"],
        ["--class", "broadwell", "--out", "{logs}/4kb.perf"],
        ["--class", "broadwell", "--out", "{logs}/cells.txt"],
        ["--class", "broadwell", "--counts-out", "{logs}/../cells.csv"],
        ["--class", "broadwell", "--table", "{logs}/t.csv"],
    ],
)
def test_wrong_requests(tmp_path, words):
    logs = tmp_path / "logs"
    write(logs / "4kb.perf")
    argv = ["measure", "import", "--workload", "w", "--out", f"{tmp_path}/cells.csv"]
    done = CliRunner().invoke(
        cli, [*argv, *(word.format(logs=logs) for word in words), str(logs / "4kb.perf")]
    )
    assert done.exit_code == 2 or isinstance(done.exception, TesseraError)
    assert not (tmp_path / "cells.csv").exists()
