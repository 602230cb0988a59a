"""What `tessera lab run kernel-test` judges and writes, with runs that are played here."""

import pandas as pd
import pytest

from tessera.lab.kernel import image, patch_tests
from tessera.lab.kernel.guest import GuestProgram, GuestRun
from tessera.lab.study import Run, run_study

#: What the series' own kselftest leaves if it passes.
KSELFTEST = {"kselftest": "TAP version 13\nok 1 a\nok 2 b # SKIP no huge page\n", "kselftest-status": "0\n"}


@pytest.fixture
def prove(monkeypatch, tmp_path):
    """Proof with runs that leave ``files`` (folder -> file -> text) in their folders."""

    def start(files=None, compared=3):
        left = {
            "selftests": {"stdout": "ok 1 - a\nok 2 - b\n", **KSELFTEST},
            "refusal-0": {"refused": "pgtblrepl: one node with memory\n"},
            "refusal-1": {"refused": "pgtblrepl: no such node; nodes with memory and processors are 0-1\n"},
            "refusal-2": {"refused": "pgtblrepl: one node with memory and processors\n"},
            "stress": {"stdout": ""},
        } | (files or {})

        def run(tools, program, script, out, on_walk=None, **_):
            out.mkdir(parents=True)
            for name, text in left[out.name].items():
                (out / name).write_text(text)
            if on_walk is not None:
                on_walk.compared = compared
            return GuestRun(int(left[out.name].get("status", 0)), out, "6.12", 5.0)

        monkeypatch.setattr(patch_tests, "run_in_guest", run)
        program = GuestProgram(tmp_path / "bzImage", ())
        (tmp_path / "pgtable_replication").write_bytes(b"x")
        monkeypatch.setattr(image, "guest_program", lambda variant, say, accept_series: program)
        monkeypatch.setattr(image, "kernel_tools", lambda say: None)
        run = Run(tmp_path)
        run_study(patch_tests.selftests_and_stress, run, {"stress_seconds": 10})
        return run.wrong, pd.read_csv(tmp_path / "summary.csv", index_col="part")

    return start


def test_all_is_well(prove):
    failures, table = prove()
    assert failures == [] and table.failed.sum() == 0
    assert table.passed.tolist() == [2, 1, 1, 1, 1, 1, 3]
    assert set(table.provenance) == {"measured"}


@pytest.mark.parametrize(
    ("files", "part"),
    [
        ({"selftests": {"stdout": "ok 1 - a\nnot ok 2 - b\n", **KSELFTEST}}, "selftests"),
        ({"selftests": {"stdout": "", "dmesg": "WARNING: CPU: 1 at x\n", **KSELFTEST}}, "selftests"),
        ({"selftests": {**KSELFTEST, "kselftest": "ok 1 a\nnot ok 2 b\n"}}, "kselftest"),
        ({"selftests": {**KSELFTEST, "kselftest": "ok 1 a # SKIP no node\n"}}, "kselftest"),
        ({"selftests": {**KSELFTEST, "kselftest-status": "124\n"}}, "kselftest"),
        ({"selftests": {"stdout": "ok 1 - a\n"}}, "kselftest"),
        ({"refusal-2": {"refused": "", "status": "1"}}, "refused: one node with memory and processors"),
        ({"refusal-0": {"refused": "", "status": "1"}}, "refused: one node with memory"),
        ({"stress": {"stdout": "", "dmesg": "pgtable_replica: difference: level 1\n"}}, "stress of 10 s"),
    ],
)
def test_what_goes_wrong_is_counted_where_it_happened(prove, files, part):
    failures, table = prove(files)
    assert len(failures) == 1
    assert table.failed[part] == 1 and table.failed.sum() == 1


def test_a_stress_that_nobody_looked_at_is_a_failure(prove):
    failures, table = prove(compared=0)
    assert "met no replica" in failures[0] and table.failed["stress of 10 s"] == 1
