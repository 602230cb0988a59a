"""Bars, checks and rules on an archive made by hand: sound data pass, each defect is found where it is."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.lab.numa import archive
from tessera.lab.numa.archive import BAR_FIGURES, archived_bars
from tessera.lab.numa.arithmetic import CONSISTENT, CONTRADICTED, PARTS, archive_checks, extra_cycles_a_page
from tessera.lab.numa.defects import RULES, defects

from .conftest import figure6

ALGEBRA = [name for name in PARTS if name != "printed"]  # the text's numbers are those of the real runs


def one(rows, **where):
    for name, value in where.items():
        rows = rows[rows[name] == value]
    assert len(rows) == 1, rows
    return rows.iloc[0]


def scaled(workload, configuration, factor, walk_factor=1.0):
    """A row of Figure 6 with another runtime, its sum kept."""
    runtime, walk, _ = figure6()[workload][configuration]
    runtime, walk = round(runtime * factor), round(walk * walk_factor)
    return {(workload, configuration): (runtime, walk, runtime - walk)}


def test_bars_by_hand(read):
    rows = archived_bars(read())
    assert set(rows["figure"]) == set(BAR_FIGURES) and set(rows["provenance"]) == {"published"}
    assert len(rows) == 2 * 7 + 2 * 6 + 2 * 2 * 3 + 2 * 3
    # GUPS: walk 20e6 + 1e6 x 280 = 300e6, rest 80e6 + 1e6 x 280 = 360e6; RP-LD adds 1e6 x 300
    bar = one(rows, figure="6", workload="GUPS", configuration="RP-LD")
    assert bar["normalized_runtime"] == pytest.approx(960 / 660) and bar["judgeable"]
    assert bar["walk_share"] == pytest.approx(600 / 960) and math.isnan(bar["improvement"])
    moved = one(rows, figure="10a", workload="GUPS", configuration="RPI-LD+M")
    assert moved["improvement"] == pytest.approx(1660 / 660) and moved["judgeable"]
    # 2MB pages: 500e3 walker loads, so RPI-LD is 20e6 + 640e6 + 360e6; over 4KB LP-LD
    large = one(rows, figure="10b", workload="GUPS", configuration="TRPI-LD")
    assert large["normalized_runtime"] == pytest.approx(1020 / 660) and not large["judgeable"]
    shared = one(rows, figure="9a", workload="Alpha", configuration="I+M")
    assert shared["improvement"] == pytest.approx(1.3 / 1.2)
    small = one(rows, figure="9b", workload="Alpha", configuration="TF+M")
    assert small["improvement"] == pytest.approx(1.25 / 1.2) and not small["judgeable"]  # below 1.05


def test_a_number_in_quarantine_leaves_its_bar_empty(read):
    copied = {("GUPS", "TRPI-LD"): figure6()["GUPS"]["RPI-LD"]}
    rows = archived_bars(read(rows=copied))
    bar = one(rows, figure="10b", workload="GUPS", configuration="TRPI-LD")
    assert math.isnan(bar["normalized_runtime"]) and bar["note"]
    moved = one(rows, figure="10b", workload="GUPS", configuration="TRPI-LD+M")
    assert math.isnan(moved["improvement"]) and moved["note"] and not moved["judgeable"]
    assert (rows[rows["figure"] == "6"]["note"] == "").all()


def test_a_workload_without_its_base(folder):
    place = folder()
    file = place / "figure6" / "figure6_absolute.csv"
    file.write_text("".join(line for line in file.read_text().splitlines(True) if "Redis\tLP-LD" not in line))
    with pytest.raises(TesseraError) as caught:
        archived_bars(archive.read_archive(place))
    assert caught.value.code == "numa-no-base" and "Redis" in caught.value.asked


def test_sound_data_are_consistent(read):
    rows = archive_checks(read(), ALGEBRA)
    assert set(rows["verdict"]) == {CONSISTENT}, rows[rows["verdict"] != CONSISTENT]
    assert set(rows["part"]) == set(ALGEBRA)
    waits = rows[rows["part"] == "waits"]["value"]
    assert waits.to_numpy() == pytest.approx(700, abs=0.1) and len(waits) == 4
    ratio = one(rows, check="walks of RP-LD", workload="GUPS", page_size="4KB", part="bounds")
    assert ratio["value"] == pytest.approx(2) and ratio["upper"] == pytest.approx(580 / 280)
    assert one(rows, check="walks of F", page_size="4KB")["value"] == pytest.approx(1.25)
    assert one(rows, check="walks of F", page_size="4KB")["upper"] == pytest.approx(505 / 280)


CONTRADICTIONS = [
    ("additive", "additive RP-RD", scaled("GUPS", "RP-RD", 1.04), scaled("GUPS", "RP-RD", 1.06)),
    ("additive", "additive RPI-RDI", scaled("GUPS", "RPI-RDI", 0.9), scaled("GUPS", "RPI-RDI", 0.88)),
    ("unchanged", "walks of LP-RD", scaled("GUPS", "LP-RD", 1, 1.04), scaled("GUPS", "LP-RD", 1, 1.06)),
    ("unchanged", "walks of RPI-RDI", scaled("GUPS", "RPI-RDI", 1, 0.9), scaled("GUPS", "RPI-RDI", 1, 0.88)),
    ("bounds", "walks of RP-LD", scaled("GUPS", "RP-LD", 2, 1.03), scaled("GUPS", "RP-LD", 2, 1.04)),
    # W = 300 x (C(RPI) - 600e6) / 300e6: 1400 at C(RPI) = 2000e6, which is 1.538 x 1300e6
    ("waits", "implied wait", scaled("GUPS", "RPI-LD", 2, 1.53), scaled("GUPS", "RPI-LD", 2, 1.55)),
]


@pytest.mark.parametrize(
    ("part", "check", "sound", "broken"), CONTRADICTIONS, ids=[c[1] for c in CONTRADICTIONS]
)
def test_what_contradicts_algebra(read, part, check, sound, broken):
    for rows, verdict in ((sound, CONSISTENT), (broken, CONTRADICTED)):
        found = archive_checks(read(rows=rows), [part])
        assert one(found, check=check, workload="GUPS", page_size="4KB")["verdict"] == verdict
        assert one(found, check=check, workload="Redis", page_size="4KB")["verdict"] == CONSISTENT


@pytest.mark.parametrize(
    ("factor", "share", "verdict"),
    [(1, 0.5, CONSISTENT), (1.1, 320 / 574, CONSISTENT), (1.2, 320 / 508, CONTRADICTED)],
)
def test_the_share_of_2mb_pages_that_figure_11_implies(read, factor, share, verdict):
    # walk cycles of GUPS RPI-LD, millions: 4KB 1300, in pieces 980, 2MB 660 x factor; local tables give 0.5
    found = archive_checks(read(rows=scaled("GUPS", "TRPI-LD", 1, factor)), ["coverage"])
    row = one(found, workload="GUPS")
    assert row["value"] == pytest.approx(share, abs=1e-3) and row["verdict"] == verdict
    assert one(found, workload="Redis")["verdict"] == CONSISTENT


def test_an_implied_wait_out_of_noise_has_no_verdict(read):
    near = scaled("GUPS", "RP-LD", 1, 0.54)  # 324e6 of 300e6: 8% more than local
    row = one(archive_checks(read(rows=near), ["waits"]), workload="GUPS", page_size="4KB")
    assert row["verdict"] == "" and "8.0%" in row["note"]


def test_a_quarantined_number_has_no_verdict(read):
    found = archive_checks(read(rows={("GUPS", "TRPI-LD"): figure6()["GUPS"]["RPI-LD"]}), ["waits"])
    row = one(found, workload="GUPS", page_size="2MB")
    assert math.isnan(row["value"]) and row["verdict"] == "" and row["note"]


def test_table_6_by_hand():
    # (272.18 - 270.93) s x 2.2e9 / 2^24 pages; sqrt(0.43^2 + 0) s; 75 GB are 19660800 pages
    assert extra_cycles_a_page("GUPS") == pytest.approx((163.91, 56.39), abs=0.01)
    assert extra_cycles_a_page("Redis") == pytest.approx((265.20, 103.48), abs=0.01)


@pytest.mark.parametrize(("extra", "verdict"), [(52, CONSISTENT), (50, CONTRADICTED), (277, CONTRADICTED)])
def test_table_6_beside_mmap(read, extra, verdict):
    rows = archive_checks(read(mmap=(10**9, 10**9 + extra * 2**20)), ["table6"])
    row = one(rows, check="mmap beside Table 6", workload="GUPS")  # 163.9 +- 2 x 56.4: 51.1 to 276.7
    assert row["value"] == extra and row["verdict"] == verdict


def test_printed_numbers(read):
    rows = archive_checks(read(shares={"Beta": (99, 1, 100, 100)}), ["printed"])
    assert one(rows, check="working_set_least")["verdict"] == CONTRADICTED  # 32 in Table 1, 17 in the text
    assert one(rows, check="working_set_most")["verdict"] == CONSISTENT
    assert one(rows, check="remote_leaf_share_one_socket")["verdict"] == CONTRADICTED  # 100, the text says 99
    assert one(rows, check="data_lines_per_leaf_line")["value"] == 256
    # GUPS: RPI-LD over LP-LD is 1660 / 660 = 2.52; the text says up to 3.3
    assert one(rows, check="slowdown_remote_page_table")["verdict"] == CONSISTENT


DEFECTS = [
    (
        "remote_shares",
        {"shares": {"Beta": (18, 72, 100, 100)}},
        {"shares": {"Beta": (18, 80, 100, 100)}},
        290,
    ),
    (
        "unequal_waits",
        {"rows": scaled("GUPS", "TRPI-LD", 1, 1.54)},
        {"rows": scaled("GUPS", "TRPI-LD", 1, 1.5)},
        None,
    ),
    (
        "not_additive",
        {"rows": scaled("GUPS", "TRP-RD", 1.27)},
        {"rows": scaled("GUPS", "TRP-RD", 1.24)},
        None,
    ),
    (
        "not_restored",
        {"rows": scaled("Redis", "RPI-LD+M", 1.06)},
        {"rows": scaled("Redis", "RPI-LD+M", 1.04)},
        None,
    ),
    (
        "not_restored",
        {"rows": scaled("Redis", "TRPI-LD+M", 0.94)},
        {"rows": scaled("Redis", "TRPI-LD+M", 0.96)},
        None,
    ),
]


def test_sound_data_have_no_defect(read):
    assert defects(read()).empty


@pytest.mark.parametrize(("rule", "broken", "sound", "value"), DEFECTS)
def test_a_defect_is_found_and_its_corrected_form_is_not(read, rule, broken, sound, value):
    found = defects(read(**broken))
    assert list(found["rule"]) == [rule]
    assert value is None or list(found["value"]) == [value]
    assert defects(read(**sound)).empty


def test_moving_tables_that_slows_a_program(read):
    runtime = figure6()["Redis"]["TRPI-LD"][0]
    for factor, rules in ((1.06, {"not_restored", "slower_when_moved"}), (1.04, {"not_restored"})):
        row = (round(runtime * factor), 5, round(runtime * factor) - 5)
        assert set(defects(read(rows={("Redis", "TRPI-LD+M"): row}))["rule"]) == rules


def test_noise_is_no_defect(read):
    quiet = scaled("GUPS", "TRP-LD", 1, 0.6) | scaled("GUPS", "TRPI-LD", 1, 1.54)
    assert "unequal_waits" not in set(defects(read(rows=quiet))["rule"])


def test_a_copied_row_is_found_by_its_wait(read):
    """As in the archive: the cycles of 4KB pages in the row of 2MB pages."""
    found = defects(read(rows={("GUPS", "TRPI-LD"): figure6()["GUPS"]["RPI-LD"]}))
    assert one(found, rule="unequal_waits")["workload"] == "GUPS"


def test_each_rule_has_a_sentence():
    assert all((rule.__doc__ or "").strip() for rule in RULES)


@pytest.mark.parametrize("command", ["bars", "arithmetic", "defects"])
def test_the_commands(folder, tmp_path, command):
    out = tmp_path / "out.csv"
    words = ["lab", "run", f"numa-{command}", f"source={folder()}", "--out", str(out)]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.exception
    assert len(pd.read_csv(out)) > 0 or command == "defects"


@pytest.mark.parametrize("command", ["bars", "arithmetic", "defects"])
def test_an_archive_that_is_not_here(tmp_path, monkeypatch, root, command):
    import shutil

    shutil.copytree(root / "reference-results", tmp_path / "checkout" / "reference-results")
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path / "checkout"))
    words = ["lab", "run", f"numa-{command}", "--out", str(tmp_path / "out.csv")]
    done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, TesseraError) and done.exception.code == "numa-no-archive"
    assert "tessera dev reference fetch mitosis" in done.exception.remedy
    done = CliRunner().invoke(cli, [*words, f"source={tmp_path / 'nowhere'}"])
    assert isinstance(done.exception, TesseraError) and "no such file or folder" in done.exception.found
    with pytest.raises(TesseraError, match="tessera dev reference fetch mitosis"):
        archive.read_archive(tmp_path / "nowhere")


def test_a_file_that_is_missing_or_of_another_form(folder):
    place = folder()
    file = place / "figure6" / "figure6_absolute.csv"
    file.write_text("Workload\tRuntime\nGUPS\t5\n")
    with pytest.raises(TesseraError) as caught:
        archive.read_archive(place)
    assert "figure6_absolute.csv, line 1" in caught.value.asked
    file.unlink()
    with pytest.raises(TesseraError) as caught:
        archive.read_archive(place)
    assert "figure6_absolute.csv" in caught.value.found


def test_unknown_parts_and_figures_list_the_known(folder):
    for study, words, known in (("arithmetic", "part=nothing", "additive"), ("bars", "figure=5", "10a")):
        line = ["lab", "run", f"numa-{study}", f"source={folder()}", words, "--out", "x.csv"]
        done = CliRunner().invoke(cli, line)
        assert done.exception.exit_code == 2 and known in done.exception.remedy
