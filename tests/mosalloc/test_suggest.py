"""``tessera mosalloc suggest``: the choice of pages, both kinds of profile, the proposal in the simulator."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tessera.cli.mosalloc.group import mosalloc
from tessera.core.errors import TesseraError
from tessera.core.files import build_dir
from tessera.core.layouts.layout import Layout, Window, read_layout, write_layout
from tessera.core.layouts.layout_format import MAX_WINDOWS
from tessera.core.units import PAGE_2MB
from tessera.measure.mosalloc.memory_needs import DEFAULT_POOL_BYTES
from tessera.measure.suggest import sampled_profile, simulation
from tessera.measure.suggest.profile import (
    Profile,
    compact_order,
    fewest_pages,
    layout_for_native_runs,
    layout_of_pages,
    ranked_pages,
    windows_of_pages,
)
from tessera.measure.suggest.proposal import profile_lines, proposal_lines, propose

POOL_BYTES = {"brk": 64 << 20, "mmap": 64 << 20}
M2 = PAGE_2MB


def measured(misses: dict, total: float) -> Profile:
    return Profile("measured", "by hand", misses, total, POOL_BYTES)


FOUR = {("brk", 0): 10.0, ("mmap", 2 * M2): 50.0, ("mmap", 4 * M2): 30.0, ("mmap", 3 * M2): 10.0}


def invoke(*arguments):
    return CliRunner().invoke(mosalloc, ["suggest", *map(str, arguments)])


# --- the choice -----------------------------------------------------------------------------------------


def test_pages_are_ranked_by_misses_then_place():
    order = [("mmap", 2 * M2), ("mmap", 4 * M2), ("brk", 0), ("mmap", 3 * M2)]
    assert ranked_pages(measured(FOUR, 100)) == order


def test_similar_pages_are_taken_in_the_order_of_addresses():
    """100, 101 and 104 lie between powers of 1.1 (98.9 and 108.8); 50 does not."""
    misses = {("mmap", 0): 100.0, ("mmap", M2): 50.0, ("mmap", 2 * M2): 101.0, ("brk", 0): 104.0}
    order = [("brk", 0), ("mmap", 0), ("mmap", 2 * M2), ("mmap", M2)]
    assert compact_order(measured(misses, 400)) == order
    assert ranked_pages(measured(misses, 400))[:2] == [("brk", 0), ("mmap", 2 * M2)]


@pytest.mark.parametrize(
    "offsets, windows",
    # one of four pages with 10 misses, but for noise, is left out: the last, to have one window
    [
        ({0: 10.0, 1: 9.99, 2: 10.0, 3: 10.0}, [(0, 3)]),
        ({0: 10.0, 1: 1.0, 2: 10.0, 3: 10.0}, [(0, 1), (2, 4)]),
    ],
)
def test_as_many_pages_in_fewer_windows_if_they_are_as_good(offsets, windows, tmp_path):
    profile = measured({("mmap", page * M2): misses for page, misses in offsets.items()}, 100)
    found = propose(profile, None, 0.74, None, "name", tmp_path)
    assert [(w.start // M2, w.end // M2) for w in found.layout.windows] == windows


@pytest.mark.parametrize(
    "share, count", [(0.5, 1), (0.51, 2), (0.8, 2), (0.9, 3), (0.91, 4), (1.0, 4), (1e-9, 1)]
)
def test_the_fewest_pages_at_the_edge(share, count):
    profile = measured(FOUR, 1000)  # shares are of the 100 misses in the pools
    assert fewest_pages(profile, ranked_pages(profile), share) == count


def test_fewer_pages_than_needed_are_none():
    profile = measured(FOUR, 100)
    assert fewest_pages(profile, ranked_pages(profile)[:2], 0.81) is None


def test_shares_that_floats_cannot_hold_are_reached():
    profile = measured({("mmap", i * M2): 0.1 for i in range(10)}, 1)
    assert fewest_pages(profile, ranked_pages(profile), 1.0) == 10


def test_neighbours_become_one_window_and_pools_stay_apart():
    pages = [("mmap", 4 * M2), ("brk", M2), ("mmap", 3 * M2), ("mmap", 0), ("brk", 0)]
    assert windows_of_pages(pages) == (
        Window("brk", 0, 2 * M2, M2),
        Window("mmap", 0, M2, M2),
        Window("mmap", 3 * M2, 5 * M2, M2),
    )


def test_a_page_that_does_not_fit_its_pool_is_no_candidate():
    profile = Profile("measured", "", {("brk", 0): 1.0, ("brk", M2): 9.0}, 10, {"brk": M2 + 4096, "mmap": M2})
    assert ranked_pages(profile) == [("brk", 0)]


def test_more_windows_than_the_library_has_room_for_are_refused(root):
    header = (root / "artifacts/mosalloc/include/mosalloc/pool_map.h").read_text()
    assert f"#define MOSALLOC_MAX_WINDOWS {MAX_WINDOWS} " in header.replace("\n", " ")
    profile = Profile("measured", "", {}, 0, {"brk": 0, "mmap": 1 << 40})
    pages = [("mmap", 2 * i * M2) for i in range(MAX_WINDOWS + 1)]
    assert len(layout_of_pages("l", profile, pages[:-1]).windows) == MAX_WINDOWS
    with pytest.raises(TesseraError, match=f"{MAX_WINDOWS + 1} windows"):
        layout_of_pages("l", profile, pages)


def test_a_measured_proposal(tmp_path):
    profile = measured(FOUR, 125)
    found = propose(profile, None, 0.75, None, "name", tmp_path)
    assert (found.layout.pages(M2), found.left, found.reached) == (2, 45, True)
    write_layout(found.layout, tmp_path / "l.csv")
    assert read_layout(tmp_path / "l.csv").pool_bytes == POOL_BYTES
    text = "\n".join(profile_lines(profile) + proposal_lines(profile, found))
    assert "profile (measured)" in text and re.search(
        r"80\.0% of the pools' misses and\s+64\.0% of all", text
    )
    assert re.search(r"outside +25 +20.0%", text)


def test_a_simulated_profile_says_how_rare_the_misses_are():
    profile = Profile("simulated", "", FOUR, 598, POOL_BYTES, accesses=100_000_000)
    assert "598 (0.0006% of the accesses)" in "\n".join(profile_lines(profile))


def test_a_goal_that_max_pages_forbids_is_said(tmp_path):
    profile = measured(FOUR, 100)
    found = propose(profile, None, 0.9, 2, "name", tmp_path)
    assert (found.layout.pages(M2), found.reached) == (2, False)
    assert re.search(r"goal.*\b90%.*--max-pages", "\n".join(proposal_lines(profile, found)))


def test_no_miss_in_the_pools_is_an_error(tmp_path):
    with pytest.raises(TesseraError, match=r"\b50\b") as caught:
        propose(measured({}, 50), None, 0.9, None, "name", tmp_path)
    assert caught.value.code == "no-miss-in-pools"


# --- the search -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_the_search_finds_the_first_number_that_will_do(seed):
    """Against a scan over random falling curves, and with at most one pass of lanes at a time."""
    rng = random.Random(seed)
    size = rng.choice([1, 2, 14, 15, 16, 17, 100, 3000])
    left = sorted((rng.randrange(10**6) for _ in range(size + 1)), reverse=True)
    wanted = rng.choice([left[-1], left[0], left[size // 2], left[size // 2] - 1])

    def misses(counts):
        assert len(counts) < simulation.LANES and counts == sorted(set(counts)) and 0 < min(counts)
        return [left[count] for count in counts]

    expected = next((n for n in range(1, size + 1) if left[n] <= wanted), None)
    count, found, reached = simulation.search_fewest(range(size), rng.randrange(1, size + 1), wanted, misses)
    assert reached == (expected is not None)
    assert left[count] == found == left[expected if reached else size]
    assert count == (expected if reached else min(n for n in range(1, size + 1) if left[n] == left[size]))\
        or not reached  # fmt: skip


# --- recording and simulation ---------------------------------------------------------------------------

GUPS = ("--size", "32MB", "--reads", "200000")
#: Misses by which two recordings in folders of other lengths may differ: the stack begins where paths end.
PAGE_OF_A_STACK = 2


@pytest.fixture(scope="module")
def gups(build):
    for component, name in (("tracer", "libtessera-trace.so"), ("simulator", "tessera-sim")):
        if not (build_dir(component) / name).exists():
            pytest.skip(f"{name} is not built: ./run tessera dev build")
    program = build_dir("workloads") / "gups"
    if not program.exists():
        pytest.skip("gups is not built: ./run tessera dev build workloads")
    return program


@pytest.mark.toolchain
def test_the_written_layout_meets_the_goal_with_the_fewest_pages(gups, tmp_path):
    """Simulated once more by hand: enough with all its pages, too little without the least of them."""
    out = tmp_path / "l.csv"
    name = "sandybridge-sim"
    done = invoke(
        "--method", "simulate", "--platform", name, "--remove", "75%", "--out", out, "--", gups, *GUPS
    )
    assert done.exit_code == 0, done.output
    assert "profile (simulated)" in done.output and f"simulated on {name}" in done.output
    layout = read_layout(out)
    count = layout.pages(M2)
    assert set(layout.pool_bytes) == {"brk", "mmap"} and 0 < count < 17

    platform, profiled = simulation.platform_of(name, tmp_path), {"brk": 4 << 30, "mmap": 12 << 30}
    trace = simulation.record_trace(
        [gups, *GUPS], tmp_path, pool_bytes=profiled, max_accesses=10**6, load=None
    )
    profile = simulation.simulated_profile(trace, platform, tmp_path)
    order = ranked_pages(profile)
    chosen = [(w.pool, offset) for w in layout.windows for offset in range(w.start, w.end, M2)]
    plain, fewer, exact = simulation.count_misses(
        trace, platform, [(), order[: count - 1], chosen], profiled, tmp_path
    )
    assert plain == profile.total and plain - profile.in_pools == profile.outside
    wanted = plain - 0.75 * profile.in_pools
    assert exact - PAGE_OF_A_STACK <= wanted < fewer + PAGE_OF_A_STACK
    (said,) = re.findall(r"([\d,]+) misses left", done.output)
    assert abs(int(said.replace(",", "")) - exact) <= PAGE_OF_A_STACK


@pytest.mark.toolchain
def test_a_goal_out_of_reach_is_said_and_the_status_is_1(gups, tmp_path):
    out = tmp_path / "l.csv"
    options = ("--method", "simulate", "--platform", "haswell-sim", "--max-pages", "2")
    done = invoke(*options, "--out", out, "--", gups, *GUPS)
    assert done.exit_code == 1, done.output
    assert "goal" in done.output and "--max-pages" in done.output and read_layout(out).pages(M2) == 2


def test_an_unknown_platform_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(sampled_profile, "why_unusable", lambda: "no PMU: none")
    done = invoke("--platform", "vax", "--out", tmp_path / "l.csv", "--", "true")
    assert isinstance(done.exception, TesseraError) and "sandybridge-sim" in str(done.exception)


@pytest.mark.parametrize(
    "arguments, found",
    [
        (("--remove", "0%"), "--remove 0%"),
        (("--remove", "101%"), "--remove 101%"),
        (("--remove", "most"), "--remove most"),
        (("--method", "guess"), "use one of: auto, perf, simulate"),
        (("--metric", "x([0-9])"), "--better: not given"),
        (("--better", "lower"), "--metric: not given"),
        (("--metric", "x", "--better", "lower"), "it has no group"),
        (("--metric", "(", "--better", "lower"), "--metric '('"),
        (("--ready-port", "7000"), "--ready-port: there is no --load"),
        (("--trial-load", "true"), "--trial-load: there is no --load"),
        (("--heap-pool", "many"), "--heap-pool"),
        (("--roi", "skip"), "'skip'"),
        (("--roi", "skip:many"), "--roi skip:many"),
        (("--roi", "switch:/no/such"), "--roi switch:/no/such"),
    ],
)
def test_wrong_requests_are_refused_before_anything_runs(arguments, found, tmp_path):
    done = invoke(*arguments, "--out", tmp_path / "l.csv", "--", "/no/such/program")
    assert isinstance(done.exception, TesseraError) and found in str(done.exception), done.output


def test_programs_that_may_start_threads():
    assert simulation.starts_threads(sys.executable)
    assert not simulation.starts_threads("/bin/true")
    with pytest.raises(TesseraError, match="/no/such/program") as caught:
        simulation.starts_threads("/no/such/program")
    assert caught.value.code == "program-not-found"


def test_a_recorded_program_sees_its_folder_and_what_it_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").write_text("")
    words = ["/bin/cat", "data", "/usr", "/etc/hosts", "--n=1", "x" * 5000, "/no/such"]
    assert simulation.opened_paths(words) == [tmp_path, tmp_path / "data", Path("/etc/hosts")]


def test_layouts_keep_both_pools(tmp_path):
    kept = layout_of_pages("n", measured(FOUR, 1), [])
    assert kept == Layout("n", POOL_BYTES, ())
    assert layout_for_native_runs(kept).pool_bytes == DEFAULT_POOL_BYTES  # above the 64MB of these tests
    large = Layout("n", {pool: size + PAGE_2MB for pool, size in DEFAULT_POOL_BYTES.items()})
    assert layout_for_native_runs(large) == large


@pytest.mark.parametrize("program", [("sh", "-c", "true"), ("bash", "x.sh"), ("env", "X=1", "ls")])
def test_shells_and_starters_are_refused_before_anything_runs(tmp_path, program):
    out = tmp_path / "out.csv"
    done = CliRunner().invoke(mosalloc, ["suggest", "--out", str(out), "--", *program])
    assert isinstance(done.exception, TesseraError) and done.exception.exit_code == 2
    assert done.exception.code == "program-starts-others" and not out.exists()


def test_the_region_is_the_recorders(monkeypatch, tmp_path):
    """Also for a program that may start threads: skip counts the accesses of one."""
    seen = []

    def recorded(program, out, **options):
        seen.append((options["roi"], options["threads"]))
        raise TesseraError("stop", "here", "")

    monkeypatch.setattr(simulation.traces, "record_program", recorded)
    monkeypatch.setattr(simulation, "platform_of", lambda *_: None)
    for roi in ("auto", "skip:1000", "markers"):
        invoke("--roi", roi, "--out", tmp_path / "l.csv", "--", sys.executable)
    assert seen == [("auto", True), ("skip:1000", False), ("markers", True)]
