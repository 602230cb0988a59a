"""Page faults of programs: the table from a simulator of formulas, and verdicts by hand."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from tessera.cli.pipeline.failures import failures
from tessera.core.errors import TesseraError
from tessera.core.files import build_dir
from tessera.core.results.os_tables import FAULT_SHARES, FAULT_TIME_COMBS, FAULT_TIMES
from tessera.core.results.table_io import read_file
from tessera.core.results.tree import ResultsTree
from tessera.lab.faults import virtuoso as step
from tessera.lab.faults import virtuoso_claims, virtuoso_runs
from tessera.lab.study import Run, read_words, run_study

from .builders import lab_run, recorded

PLATFORM = "haswell-sim"
#: Timed faults of the log below: an even number of cycles with 4KB, an odd one with 2MB.
FAULTS = [
    {"fault": i, "access": i, "page": 7 * i, "kind": kind, "page_bytes": size, "tables": 0, "batch": 0,
     "cycles": cycles}
    for i, (kind, size, cycles) in enumerate(
        [("write-4kb", 4096, 3000), ("write-4kb", 4096, 5000), ("write-2mb", 2 << 20, 90_001)]
    )
]  # fmt: skip
KINDS = "page 4KB,page 4KB,page 2MB,zero 4KB,zero 4KB".split(",")


# -- the study


@pytest.fixture
def world(monkeypatch, tmp_path):
    """An imitation with the log above, out of memory under `memory-short`; R is 1,000,000, or 800,000."""
    asked = []

    def run(trace, scenario, out, progress=None):
        if scenario.name == "memory-short":
            raise TesseraError("tessera-os", "no frame for page 7 [os/out-of-memory]", "give it more memory")
        out.write_text(scenario.name)

    def lines(log, table):
        if table == "faults":
            parts = [kind.split() for kind in KINDS]
            return iter(["cause,page_size\n", *(f"{cause},{size}\n" for cause, size in parts)])
        heads = {
            "sizes": "block,pages_4kb,zero_pages_4kb,pages_2mb,areas,faults",
            "kinds": "kind,page_size,faults",
            "chunks": "least_pages,chunks,pages",
            "areas": "pool,page,pages,rights,huge_pages",
            "counters": "counter,value",
        }
        return iter([heads[table] + "\n"])

    def simulate_all(trace, platforms, files, *, weave=None, kernel=None, fault_times=None, **options):
        (platform,) = platforms
        asked.append((platform.values["memory.allocator"].value, weave is not None, [f.stem for f in files]))
        if getattr(simulate_all, "dies", False):
            raise TesseraError("tessera-sim", "it ended with status -9", "see above", exit_code=1)
        rows = []
        for file in files:
            good = file.stem != "fragmented-50" or weave is None
            if not good:
                rows.append({"status": "failed", "message": "no template of kind SWAP-4"})
                continue
            rows.append(
                {"status": "ok", "message": "", "runtime_cycles": 1_000_000 if weave else 800_000,
                 "runtime_cycles_ci95": 0.0, "instructions": 500, "accesses": 200, "stlb_misses": 40,
                 "walk_cycles": 2000}
            )  # fmt: skip
        if weave:
            good = [file.stem for file in files if file.stem != "fragmented-50"]
            counts = {"kernel_instructions": 9000, "kernel_cycles": 102000, "kernel_walk_cycles": 5}
            kernel.append([{"layout": stem} | counts for stem in good])
            fault_times.append([{"layout": stem} | row for stem in good for row in FAULTS])
        return [rows]

    monkeypatch.setattr(step.operating_system, "run_scenario", run)
    monkeypatch.setattr(step.operating_system, "log_lines", lines)
    monkeypatch.setattr(virtuoso_runs, "simulate_all", simulate_all)
    monkeypatch.setattr(step, "file_of", lambda folder: b"templates")
    info = recorded(ResultsTree(tmp_path).scenario_recording("made"))
    simulate_all.asked = asked
    simulate_all.out = ResultsTree(tmp_path).virtuoso("made", "shares").parent
    simulate_all.info = info

    def study(*names):
        words = [f"trace={info}", f"platform={PLATFORM}", f"scenarios={','.join(names)}", f"weave={tmp_path}"]
        values = read_words("virtuoso", step.virtuoso, words, simulate_all.out)
        return run_study(step.virtuoso, Run(simulate_all.out), values)[0]

    simulate_all.study = study
    return simulate_all


def test_parts_of_the_runtime_and_failures_as_rows(world, tmp_path):
    found = world.study("thp-never", "memory-short", "fragmented-50").set_index("scenario")
    assert found["status"].tolist() == ["ok", "failed", "failed"]
    assert "os/out-of-memory" in found.loc["memory-short", "message"]
    assert found.loc["fragmented-50", "message"] == "no template of kind SWAP-4"
    row = found.loc["thp-never"]
    assert row["fault_share"] == 0.102 and row["translation_share"] == 0.002 and row["cycles_per_walk"] == 50
    assert row["faults"] == 5 and row["faults_2mb"] == 1 and row["faultless_cycles"] == 800_000
    logs = ["thp-never", "fragmented-50"]
    assert world.asked == [("mapped", True, logs), ("mapped", False, logs)]
    times = read_file(FAULT_TIMES, world.out / "latency.csv")
    assert set(times["scenario"]) == {"thp-never"} and set(times["provenance"]) == {"simulated"}
    at = times.set_index(["kind", "share"])
    assert at.loc[("all", 0.5), "cycles"] == 5000 and at.loc[("write-4kb", 0.5), "cycles"] == 3000
    assert at.loc[("all", 0.5), "us"] == pytest.approx(5000 / 2100) and at.loc[("all", 0.5), "faults"] == 3
    assert at.loc[("all", 0.5), "time_above"] == pytest.approx(90_001 / 98_001)
    assert read_file(FAULT_TIME_COMBS, world.out / "combs.csv").empty  # pages are not consecutive
    (one,) = failures(tmp_path, reserve=False)
    assert one.path == ResultsTree(tmp_path).virtuoso("made", "shares")


def test_a_dead_simulator_or_a_failed_recording_is_in_every_row(world, tmp_path):
    world.dies = True
    found = world.study("thp-never", "thp-always")
    assert found["status"].eq("failed").all() and found["message"].str.contains("-9").all()
    world.info.write_text(json.dumps({"workload": "made", "status": "failed", "message": "RECORDING-5"}))
    found = world.study("thp-never", "thp-always")
    assert found["message"].str.contains("RECORDING-5").all() and len(found) == 2


# -- verdicts


def table(of: dict[tuple[str, str], tuple[float, float, float]]) -> pd.DataFrame:
    """(workload, scenario) -> share of faults, share of translation, cycles a walk."""
    columns = ("fault_share", "translation_share", "cycles_per_walk")
    rows = [
        {"workload": workload, "scenario": scenario, "status": "ok"} | dict(zip(columns, values, strict=True))
        for (workload, scenario), values in of.items()
    ]
    return pd.DataFrame(rows)


LARGE, BASE = virtuoso_claims.LARGE, virtuoso_claims.SMALL
GOOD = {
    ("a", LARGE): (0.2, 0.005, 40), ("a", BASE): (0.6, 0.2, 30),
    ("b", LARGE): (0.4, 0.009, 100), ("b", BASE): (0.8, 0.4, 90),
}  # fmt: skip


def verdicts(of):
    return virtuoso_claims.judge_claims(table(of)).set_index("id")


def test_means_bounds_and_directions_are_judged():
    found = verdicts(GOOD)
    assert list(found.index) == [f"virtuoso-{claim.id}" for claim in virtuoso_claims.CLAIMS]
    assert found.loc["virtuoso-faults-short", "obtained"] == pytest.approx(0.3)
    assert found.loc["virtuoso-faults-short", "with_4kb_pages"] == pytest.approx(0.7)
    assert found.loc["virtuoso-walk-latency", "obtained"] == 2.5  # half of 4.6 is enough
    judged_ones = found[found["verdict"].str.contains("SIMULATION")]
    assert judged_ones["verdict"].eq(virtuoso_claims.HOLDS).all() and len(judged_ones) == 3
    others = found.drop(judged_ones.index)
    assert others["verdict"].eq(virtuoso_claims.NOWHERE).all() and others["obtained"].isna().all()


@pytest.mark.parametrize(
    ("key", "values", "claim"),
    [
        (("b", LARGE), (0.05, 0.009, 100), "faults-short"),
        (("a", LARGE), (0.9, 0.005, 40), "faults-short"),
        (("b", LARGE), (0.4, 0.05, 100), "translation-short"),
        (("a", LARGE), (0.2, 0.005, 60), "walk-latency"),
    ],
)
def test_each_judged_claim_can_fail(key, values, claim):
    found = verdicts(GOOD | {key: values})
    assert found.loc[f"virtuoso-{claim}", "verdict"] == virtuoso_claims.FAILS


def test_programs_without_one_of_the_two_scenarios_do_not_count():
    found = verdicts(GOOD | {("c", LARGE): (1.0, 1.0, 1000)})
    assert found.loc["virtuoso-faults-short", "programs"] == 2
    assert found.loc["virtuoso-faults-short", "obtained"] == pytest.approx(0.3)
    nothing = verdicts({("c", LARGE): (1.0, 1.0, 1000)})
    assert nothing["obtained"].isna().all() and not nothing["verdict"].str.contains("SIMULATION").any()


# -- with the imitation and the simulator


@pytest.mark.toolchain
def test_the_command_writes_every_table(root, tmp_path):
    for component, name in (("imitation", "tessera-os"), ("simulator", "tessera-sim")):
        if not (build_dir(component) / name).exists():
            pytest.skip(f"build/{component}/{name} is missing: ./run tessera dev build {component}")
    trace = root / "tests" / "traces" / "examples" / "phases.tst"
    words = [f"trace={trace}", "platform=haswell-sim", f"weave={root / 'artifacts/kernel-stream/recording'}"]
    done = lab_run("virtuoso", *words, out=tmp_path)
    assert done.exit_code == 0 and "thp-never" in done.output, done.output
    times = read_file(FAULT_TIMES, tmp_path / "latency.csv")
    least = times[(times["kind"] != "all") & (times["share"] == 0.01)]
    assert len(least) > 1 and least["cycles"].gt(400).all()  # entry and exit alone hold dispatch for 400
    shares = read_file(FAULT_SHARES, tmp_path / "shares.csv").set_index("scenario")
    assert shares["faults"].gt(0).all() and shares["fault_share"].between(0, 1, inclusive="neither").all()
    assert (shares["runtime_cycles"] > shares["faultless_cycles"]).all()
    done = lab_run("virtuoso-judge", f"tables={tmp_path}", out=tmp_path / "j.csv")
    assert done.exit_code == 0 and len(pd.read_csv(tmp_path / "j.csv")) == len(virtuoso_claims.CLAIMS)
