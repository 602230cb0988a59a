"""The cell cache and the runner's use of it, with the simulator replaced by a recorder of its calls."""

import json
import os
from dataclasses import replace

import pytest

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import layout_files
from tessera.core.platforms import Platform, Value
from tessera.simulate import runner
from tessera.simulate.inputs import MAPPING
from tessera.simulate.runner import CellCache, content_key
from tessera.simulate.sampling import FULL, Intervals, parse_sampling

PLATFORM = Platform("p", "test", "none", {"tlb.entries": Value(64, "assumed: test")})
HEAD = "type,pageSize,startOffset,endOffset\nmmap,-1,0,1GB\n"


@pytest.fixture
def setting(tmp_path, monkeypatch):
    """Three layouts, two of them alike, and a fake simulator that fails on request."""
    folder = tmp_path / "layouts"
    folder.mkdir()
    for name, row in {
        "growing-0": "",
        "random-1": "mmap,2MB,0,2MB\n",
        "random-2": "mmap,2MB,0,2MB\n",
    }.items():
        (folder / f"{name}.csv").write_text(HEAD + row)
    simulator = tmp_path / "tessera-sim"
    simulator.write_text("binary 1")
    calls = []

    def fake(job, layouts, keep, progress):
        calls.append([path.stem for path in layouts])
        for path in layouts:
            row = {"status": "ok", "message": "", "stlb_misses": len(layouts[path])}
            for place in range(len(job.platforms)):
                keep(place, path, row, [{"unit": 0}], [{"structure": "anchor", "hits": 3}])

    monkeypatch.setattr(runner, "_run", fake)
    monkeypatch.setattr(runner, "built", lambda *_: simulator)
    monkeypatch.setattr(runner, "trace_identity", lambda trace: trace.read_text())
    monkeypatch.setattr(runner, "trace_note", lambda trace: "")
    (tmp_path / "t.tst").write_text("trace 1")

    def run(**changes):
        options = {"workload": "w", "engine": "timing", "sampling": FULL, "cache": CellCache(tmp_path / "c")}
        return runner.simulate_platform(
            tmp_path / "t.tst", PLATFORM, layout_files(folder), **(options | changes)
        )

    return run, calls, tmp_path


def test_equal_layouts_are_simulated_once_and_finished_cells_not_again(setting):
    run, calls, _ = setting
    first = run()
    assert calls == [["growing-0", "random-2"]] or calls == [["growing-0", "random-1"]]
    assert [row["layout"] for row in first] == ["growing-0", "random-1", "random-2"]
    assert run() == first and len(calls) == 1


def test_anything_the_numbers_depend_on_makes_a_new_cell(setting):
    run, calls, folder = setting
    run()
    (folder / "t.tst").write_text("trace 2")
    run()
    (folder / "tessera-sim").write_text("binary 2")
    run()
    run(engine="partial")
    run(sampling=parse_sampling("units=3"))
    run(sampling=Intervals.of([(0, 0, 10, 1.0)]))
    run(sampling=Intervals.of([(0, 0, 10, 2.0)]))
    assert len(calls) == 7
    run(threads=4)
    assert len(calls) == 7  # threads change the time only


def test_units_of_cached_cells_are_there_too(setting):
    run, calls, _ = setting
    first, second = [], []
    run(units=first)
    run(units=second)
    assert len(calls) == 1 and first == second
    assert [unit["layout"] for unit in first] == ["growing-0", "random-1", "random-2"]
    assert first[0] == {"platform": "p", "layout": "growing-0", "unit": 0}


def test_structures_of_cached_cells_are_there_too(setting):
    run, calls, _ = setting
    first, second = [], []
    run(structures=first)
    run(structures=second)
    assert len(calls) == 1 and first == second
    assert first[0] == {"platform": "p", "layout": "growing-0", "structure": "anchor", "hits": 3}
    assert len(first) == 3


def test_a_cell_stored_without_structures_is_simulated_again_when_they_are_asked_for(setting):
    run, calls, folder = setting
    run()
    for path in (folder / "c").glob("*/*.json"):
        cell = json.loads(path.read_text())
        assert cell.pop("structures")
        path.write_text(json.dumps(cell))
    run()
    assert len(calls) == 1
    found = []
    run(structures=found)
    assert len(calls) == 2 and len(calls[1]) == 2 and len(found) == 3
    run(structures=[])
    assert len(calls) == 2


def test_a_mapping_has_cells_of_its_own_by_its_content_and_its_stem_as_name(setting):
    run, calls, folder = setting
    files = [folder / "4kb.csv", folder / "demand.csv"]
    files[0].write_text(HEAD)
    files[1].write_text(HEAD + "\n")
    assert [row["layout"] for row in run()] == ["growing-0", "random-1", "random-2"]

    def mappings():
        base = {"workload": "w", "engine": "timing", "sampling": FULL, "cache": CellCache(folder / "c")}
        return runner.simulate_platform(folder / "t.tst", PLATFORM, files, kind=MAPPING, **base)

    assert [row["layout"] for row in mappings()] == ["4kb", "demand"]
    assert calls[1:] == [["4kb", "demand"]]  # the first has the content of the layout growing-0
    mappings()
    assert len(calls) == 2
    files[1].write_text(HEAD + "\n\n")
    mappings()
    assert calls[2:] == [["demand"]]


def test_several_platforms_have_the_cells_that_each_has_alone(setting, monkeypatch):
    run, calls, folder = setting
    jobs = []
    whole = runner._run

    def fake(job, layouts, keep, progress):
        jobs.append([platform.name for platform in job.platforms])
        whole(job, layouts, keep, progress)

    monkeypatch.setattr(runner, "_run", fake)
    run()
    others = [
        replace(PLATFORM, name=name, values={"tlb.entries": Value(n, "x")})
        for name, n in [("q", 2), ("r", 3)]
    ]
    options = {"workload": "w", "engine": "timing", "sampling": FULL, "cache": CellCache(folder / "c")}
    of_all, structures = [PLATFORM, *others], []
    files = layout_files(folder / "layouts")
    tables = runner.simulate_all(folder / "t.tst", of_all, files, structures=structures, **options)
    assert jobs == [["p"], ["q", "r"]]  # the cells of p are in the cache
    assert [[row["platform"] for row in table] for table in tables] == [[p.name] * 3 for p in of_all]
    assert [part["platform"] for part in structures[2]] == ["r"] * 3
    for platform, table in zip(of_all, tables, strict=True):
        assert runner.simulate_platform(folder / "t.tst", platform, files, **options) == table
    assert len(jobs) == 2


def test_platforms_that_lack_other_cells_have_runs_of_their_own(setting):
    run, calls, folder = setting
    run()
    with (folder / "layouts" / "growing-0.csv").open("a") as stream:
        stream.write("\n")
    other = replace(PLATFORM, name="q", values={"tlb.entries": Value(2, "x")})
    options = {"workload": "w", "engine": "timing", "sampling": FULL, "cache": CellCache(folder / "c")}
    runner.simulate_all(folder / "t.tst", [PLATFORM, other], layout_files(folder / "layouts"), **options)
    assert [len(call) for call in calls] == [2, 1, 2]


def test_rows_before_a_crash_are_kept(setting, monkeypatch):
    run, calls, _ = setting
    whole = runner._run

    def dies(job, layouts, keep, progress):
        whole(job, dict([next(iter(layouts.items()))]), keep, progress)
        raise TesseraError("tessera-sim", "killed", "run again")

    monkeypatch.setattr(runner, "_run", dies)
    with pytest.raises(TesseraError):
        run()
    monkeypatch.setattr(runner, "_run", whole)
    assert len(run()) == 3
    assert [len(call) for call in calls] == [1, 1]


def test_failed_rows_are_not_kept(setting, monkeypatch):
    run, calls, _ = setting
    whole = runner._run

    def refuses(job, layouts, keep, progress):
        for path in layouts:
            keep(0, path, {"status": "failed", "message": "no"}, [], [])

    monkeypatch.setattr(runner, "_run", refuses)
    assert {row["status"] for row in run()} == {"failed"}
    monkeypatch.setattr(runner, "_run", whole)
    assert {row["status"] for row in run()} == {"ok"}


def test_what_cannot_be_read_is_a_failed_row_and_the_others_go_on(setting):
    run, calls, folder = setting
    layouts = folder / "layouts"
    (layouts / "dangling.csv").symlink_to("none")
    (layouts / "folder.csv").mkdir()
    os.mkfifo(layouts / "pipe.csv")
    (layouts / "latin.csv").write_bytes(HEAD.encode() + b"mmap,2MB,0,\xe9\n")
    odd = os.fsencode(layouts) + b"/odd\xff.csv"
    with open(odd, "wb") as stream:
        stream.write(HEAD.encode() + b"\n")
    rows = {row["layout"]: row for row in run()}
    assert {name for name, row in rows.items() if row["status"] == "failed"} == {"dangling", "folder", "pipe"}
    for name in ("dangling", "folder", "pipe"):
        assert f"{name}.csv" in rows[name]["message"] and rows[name]["message"].count("what to do: ") == 1
    assert rows["latin"]["stlb_misses"] == len(HEAD) + 13  # its bytes, which the simulator judges
    assert set(rows) >= {"growing-0", "random-1", "random-2", "odd\\xff"}
    calls.clear()
    run()
    assert calls == []  # nothing of what was read is simulated again


def test_a_refusal_names_the_file_of_its_own_row(setting, monkeypatch):
    run, _, folder = setting

    def refuses(job, layouts, keep, progress):
        for path in layouts:
            keep(0, path, {"status": "failed", "message": f"layout {path} line 2: no"}, [], [])

    monkeypatch.setattr(runner, "_run", refuses)
    assert all(f"{row['layout']}.csv" in row["message"] for row in run())


def test_a_full_disk_under_the_cache_ends_the_run_with_cause_and_kept_cells(setting, monkeypatch, capsys):
    run, calls, _ = setting
    whole = CellCache.put

    def full(self, key, cell):
        if next(self.folder.rglob("*.json"), None) is not None:
            raise TesseraError("write cache", "no space", "make room", exit_code=1)
        whole(self, key, cell)

    monkeypatch.setattr(CellCache, "put", full)
    with pytest.raises(TesseraError, match="no space"):
        run()
    assert capsys.readouterr().err.startswith("1 of 3 layouts")
    monkeypatch.setattr(CellCache, "put", whole)
    assert len(run()) == 3
    assert len(calls[0]) == 2 and len(calls[1]) == 1


def test_a_torn_cell_counts_as_absent(tmp_path):
    cache = CellCache(tmp_path)
    cache.put("ab12", {"x": 1})
    assert cache.get("ab12") == {"x": 1}
    next(tmp_path.glob("*/*.json")).write_text('{"x":')
    assert cache.get("ab12") is None
    json.dumps(cache.get("none"))


def test_keys_do_not_collide_by_concatenation():
    assert content_key("ab", "c") != content_key("a", "bc") != content_key("abc")


def test_the_note_on_threads_is_that_of_the_trace_also_in_cells_of_the_cache(setting, monkeypatch):
    run, calls, folder = setting
    assert {row["message"] for row in run()} == {""}
    note = "one of 8 threads (thread 3, 12.50% of their blocks)"
    monkeypatch.setattr(runner, "trace_note", lambda trace: note)
    assert {row["message"] for row in run()} == {note} and len(calls) == 1
    (folder / "layouts" / "growing-0.csv").unlink()
    (folder / "layouts" / "growing-0.csv").mkdir()  # a row that failed keeps its reason alone
    assert [row["message"] == note for row in run()] == [False, True, True]
    assert note not in run()[0]["message"]
