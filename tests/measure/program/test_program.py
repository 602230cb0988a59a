"""``tessera measure -- PROGRAM``: runs, variants of pages, gains, and numbers from counters."""

from __future__ import annotations

import os
import socket
import sys

import pytest
from click.testing import CliRunner

from tessera.cli.measure.group import measure
from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import Layout, Window, write_layout
from tessera.core.statistics import Interval
from tessera.core.units import MB, PAGE_2MB
from tessera.machine.counters import sysfs
from tessera.machine.counters.event_table import class_named
from tessera.measure.counted.host import MeasurementSite
from tessera.measure.counted.perf_stat import RunCounts
from tessera.measure.program import gains, walk_counts
from tessera.measure.program.single_run import Usage, run_watched
from tessera.measure.program.walk_counts import PassCounts
from tessera.measure.suggest.server_load import Load

TOUCH = "b = bytearray({mb} << 20)\nfor at in range(0, len(b), 4096): b[at] = 1"


def touching(mb):
    return [sys.executable, "-c", TOUCH.format(mb=mb)]


# --- one run ------------------------------------------------------------------------------------------


def test_faults_are_those_of_the_touched_pages():
    """64MB more are 16384 pages of 4KB more; Python itself varies by a few."""
    few, many = (run_watched(touching(mb), without_thp=True, quiet=True).faults for mb in (1, 65))
    assert abs(many - few - 16384) < 200


def test_thp_is_off_for_the_program_and_its_children(tmp_path):
    script = f"sh -c 'grep THP_enabled /proc/self/status' > {tmp_path}/found; true"
    for off, found in ((True, "0"), (False, "1")):
        run_watched(["sh", "-c", script], without_thp=off, quiet=True)
        text = (tmp_path / "found").read_text()
        if not text:
            pytest.skip("this kernel does not show THP_enabled (Linux 5.0 does)")
        assert text.split() == ["THP_enabled:", found]


def test_variables_reach_the_program():
    run_watched(["sh", "-c", '[ "$TESSERA_X" = 7 ]'], variables={"TESSERA_X": "7"}, quiet=True)


def test_a_failing_program_shows_its_words():
    with pytest.raises(TesseraError) as error:
        run_watched(["sh", "-c", "echo broken-by-hand; exit 3"], quiet=True)
    assert "status 3: broken-by-hand" in error.value.found


def test_a_program_that_does_not_exist():
    with pytest.raises(TesseraError) as error:
        run_watched(["/nonexistent/program"], quiet=True)
    assert error.value.code == "program-failed" and "$PATH" in error.value.remedy


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_the_time_of_a_server_is_that_of_its_load():
    port = free_port()
    server = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
    seen = run_watched(server, load=Load("sleep 0.3", port), quiet=True)
    assert 0.3 <= seen.seconds < 30
    assert seen.faults is None and seen.user is None


# --- variants -----------------------------------------------------------------------------------------


def thp(folder, chosen):
    (folder / "enabled").write_text(
        " ".join(f"[{w}]" if w == chosen else w for w in ("always", "madvise", "never"))
    )
    return folder


def test_thp_as_the_machine_allows(tmp_path):
    assert gains.variant("thp", thp(tmp_path, "always")).variables == {}
    for_malloc = gains.variant("thp", thp(tmp_path, "madvise"))
    assert "glibc.malloc.hugetlb=1" in for_malloc.variables["GLIBC_TUNABLES"]
    assert not for_malloc.without_thp and "malloc" in for_malloc.pages
    with pytest.raises(TesseraError) as error:
        gains.variant("thp", thp(tmp_path, "never"))
    assert error.value.code == "no-huge-pages" and str(tmp_path) in error.value.remedy


def test_other_tunables_of_the_user_stay(tmp_path, monkeypatch):
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.check=1")
    found = gains.variant("thp", thp(tmp_path, "madvise")).variables["GLIBC_TUNABLES"]
    assert found == "glibc.malloc.check=1:glibc.malloc.hugetlb=1"


def test_hugetlb_needs_free_pages(monkeypatch):
    monkeypatch.setattr(gains, "huge_pages_free", lambda size: 0)
    with pytest.raises(TesseraError) as error:
        gains.variant("hugetlb")
    assert error.value.code == "no-huge-pages"
    monkeypatch.setattr(gains, "huge_pages_free", lambda size: 5)
    assert gains.variant("hugetlb").without_thp


def test_a_layout_reserves_its_pages(tmp_path, monkeypatch):
    path = tmp_path / "hot.csv"
    write_layout(Layout("hot", {"mmap": 64 * MB}, (Window("mmap", 0, 6 * MB, PAGE_2MB),)), path)
    found, asked = gains.variant(str(path)), []
    monkeypatch.setattr(gains, "reserve_huge_pages", lambda *counts: asked.append(counts))
    found.pages_reserved()
    assert (found.name, asked) == ("hot", [(3, 0)])
    with pytest.raises(TesseraError, match="cold.csv"):
        gains.variant(str(tmp_path / "cold.csv"))


def test_a_variant_without_a_huge_page_is_no_variant(tmp_path):
    found = gains.variant("thp", thp(tmp_path, "always"))
    with pytest.raises(TesseraError) as error:
        found.check(Usage(1.0, huge_bytes=0))
    assert error.value.code == "no-huge-pages"
    assert "4MB" in found.check(Usage(1.0, huge_bytes=4 * MB))
    assert gains.base_variant().check(Usage(1.0)) == gains.base_variant().pages


# --- gains --------------------------------------------------------------------------------------------


class Timed(gains.PageVariant):
    """A variant whose runs take invented times."""

    def run(self, program, load, *, watch=False):
        log.append((self.name, watch))
        return Usage(times[self.name].pop(0), huge_bytes=MB)


log: list = []
times: dict = {}


def compared(monkeypatch, **seconds):
    """Gains for 4kb and thp; the first time of each is that of the warming run."""
    log.clear()
    times.clear()
    times.update({name.removeprefix("_"): [99.0, *values] for name, values in seconds.items()})
    monkeypatch.setattr(gains, "base_variant", lambda: Timed("4kb", "4KB pages"))
    return gains.compare_variants(["p"], [Timed("thp", "THP", huge=True)], pairs=len(seconds["thp"]))


def test_a_gain_is_one_minus_the_ratio_of_pairs(monkeypatch):
    """Both pairs have the ratio 1/2, whatever the machine's speed was."""
    plain, found = compared(monkeypatch, _4kb=[2.0, 4.0], thp=[1.0, 2.0])
    assert found.gain == Interval(0.5, 0.0, 2) and found.proven
    assert found.seconds.value == 1.5 and plain.seconds.value == 3.0
    assert log[:2] == [("4kb", True), ("thp", True)] and not any(watch for _, watch in log[2:])
    assert sorted(name for name, _ in log) == ["4kb"] * 3 + ["thp"] * 3
    assert gains._gain_text(found) == "50.0% +- 0.0%"


def test_a_gain_within_noise_is_marked(monkeypatch):
    """Ratios 1/2 and 2: their geometric mean is 1, the interval is wide."""
    _, found = compared(monkeypatch, _4kb=[1.0, 1.0], thp=[0.5, 2.0])
    assert found.gain.value == pytest.approx(0) and not found.proven
    assert gains._gain_text(found).endswith("(may be none)")


def test_one_pair_or_one_variant_twice_is_refused(tmp_path):
    one = gains.variant("thp", thp(tmp_path, "always"))
    with pytest.raises(TesseraError, match="--pairs 1"):
        gains.compare_variants(["true"], [one], pairs=1)
    with pytest.raises(TesseraError, match="thp"):
        gains.compare_variants(["true"], [one, one])


# --- counters -----------------------------------------------------------------------------------------


def test_ratios_of_two_passes_by_hand():
    """Each ratio has R and instructions of its own run: 30/100 + 20/200 = 0.4; 1000 x (3 + 1)/1000."""
    loads = PassCounts(
        "loads",
        {
            "R cycles": 100,
            "instructions": 1000,
            "C loads": 30,
            "M loads": 3,
            "C active loads": 25,
            "H loads": 7,
        },
    )
    stores = PassCounts("stores", {"R cycles": 200, "instructions": 2000, "C stores": 20, "M stores": 2})
    sizes = PassCounts("by-size", {"R cycles": 100, "instructions": 1000, "M loads 4KB": 2, "M loads 2MB": 1})
    found = dict(walk_counts.count_lines(class_named("broadwell"), [loads, stores, sizes]))
    assert found["C / R"] == "0.4"
    assert found["M per 1000 instructions"] == "4"
    assert found["cycles with a walk, loads"] == "25% of R"
    assert found["M per 1000 instructions, 4KB pages"] == "2"
    assert found["H per 1000 instructions"] == "7"
    assert not {"cycles with a walk, stores", "instruction side: C / R"} & found.keys()


def test_the_code_side_is_shown_where_it_was_counted():
    """Ratios of one pass: 4 / 1000 x 1000, and 30 / 100 cycles."""
    code = PassCounts(
        "code", {"R cycles": 100, "instructions": 1000, "instruction M": 4, "instruction C": 30, "M loads": 2}
    )
    found = dict(walk_counts.count_lines(class_named("broadwell"), [code]))
    assert found["instruction side: M per 1000 instructions"] == "4"
    assert found["instruction side: C / R"] == "0.3"


def test_zen_says_that_it_does_not_count_c():
    found = dict(
        walk_counts.count_lines(
            class_named("zen3"), [PassCounts("data", {"R cycles": 1, "instructions": 1000, "M any": 5})]
        )
    )
    assert found["M per 1000 instructions"] == "5" and "zen3" in found["C"] and "C / R" not in found


# --- the command --------------------------------------------------------------------------------------


def invoked(*words):
    return CliRunner().invoke(measure, list(words), catch_exceptions=False)


def test_what_is_no_command_is_a_program(monkeypatch):
    monkeypatch.setattr(walk_counts, "why_no_counters", lambda root: "no PMU here")
    for words in (("--", "true"), ("program", "--", "true"), ("--mode", "uk", "--", "true"), ("true",)):
        done = invoked(*words)
        assert done.exit_code == 0, done.output
        for said in ("clock time", "no PMU here", "--try"):
            assert said in done.output


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--ready-port", "7000"), "--ready-port"),
        (("--stop-signal", "TERM"), "--stop-signal"),
        (("--try", "thp", "--stop-signal", "INT"), "--stop-signal"),
        (("--pairs", "0", "--try", "thp"), "--pairs"),
    ],
)
def test_options_that_would_have_no_effect_are_refused(words, named):
    done = invoked(*words, "--", "true")
    assert done.exit_code == 2 and named in done.output
    assert ("--load" in done.output) == (named != "--pairs")


def test_a_counted_program_stays_on_cores_of_its_class(tmp_path, monkeypatch):
    """On a hybrid processor: all P-cores that this process may use, whatever the number of threads."""
    place = tmp_path / "machine/sys/bus/event_source/devices/cpu_core"
    place.mkdir(parents=True)
    for name, text in (("type", "4"), ("cpus", "0-1,64"), ("format/event", "config:0-7")):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text)
    (tmp_path / "machine/proc").mkdir()
    cpuinfo = "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 151\nstepping : 2\n"  # 06_97
    (tmp_path / "machine/proc/cpuinfo").write_text(cpuinfo)
    monkeypatch.setattr(walk_counts, "attributes", lambda one, found, root, *, mode: [])
    monkeypatch.setattr(walk_counts, "events_file", lambda one, found, root, *, mode: "")
    monkeypatch.setattr(walk_counts, "read_run_counts", lambda path, names: counts_of(path))
    launcher = tmp_path / "launcher"
    where_it_runs = f"grep Cpus_allowed_list /proc/self/status >> {tmp_path}/seen"
    launcher.write_text(f'#!/bin/sh\ntouch "$4"\n{where_it_runs}\n')
    launcher.chmod(0o755)
    monkeypatch.setenv("TESSERA_LAUNCHER", str(launcher))
    allowed = sorted(os.sched_getaffinity(0) & {0, 1})
    where = MeasurementSite(tmp_path / "machine", launcher, rehearsal=False)
    found, done = walk_counts.count_walks(["true"], where, mode="u")
    assert found.name == "goldencove" and done
    seen = {line.split()[1] for line in (tmp_path / "seen").read_text().splitlines()}
    assert {number for text in seen for number in sysfs.listed_numbers(text)} == set(allowed)


def counts_of(path):
    assert path.exists()
    return RunCounts()


def test_help_and_commands_stay(tmp_path):
    assert "import" in invoked("--help").output == invoked().output
    assert "LOGS" in invoked("import", "--help").output
    assert "--rounds" in invoked("run", "--help").output
    assert invoked("--").exit_code == 2


def test_without_a_pmu_the_reason_is_named(tmp_path):
    cpuinfo = tmp_path / "proc/cpuinfo"
    cpuinfo.parent.mkdir()
    cpuinfo.write_text("vendor_id : GenuineIntel\ncpu family : 6\nmodel : 79\nstepping : 1\n")
    assert "PMU" in walk_counts.why_no_counters(tmp_path)
    cpuinfo.write_text("vendor_id : GenuineIntel\ncpu family : 6\nmodel : 1\nstepping : 0\n")
    assert "06_01" in walk_counts.why_no_counters(tmp_path)


def test_an_unknown_option_is_no_program(capfd):
    """``./run measure --minutes 20`` measures workloads; it is ``tessera measure run --minutes 20``."""
    done = CliRunner().invoke(measure, ["--minutes", "20"])
    assert done.exit_code == 2 and "--minutes" in done.output
    assert CliRunner().invoke(measure, ["--", "/bin/echo", "--minutes"]).exit_code == 0
    assert "--minutes" in capfd.readouterr().out
