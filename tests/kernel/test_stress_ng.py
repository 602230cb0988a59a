"""What stress-ng's statuses mean, from a run that is made up here."""

from tessera.lab.kernel.guest import GuestRun
from tessera.lab.kernel.third_party_tests import STRESSORS, judge_stress


def run_of(tmp_path, statuses, status=0, dmesg=""):
    (tmp_path / "stdout").write_text("".join(f"{name} {code}\n" for name, code in statuses.items()))
    (tmp_path / "dmesg").write_text(dmesg)
    return GuestRun(status, tmp_path, "6.12", 1.0)


def test_passed_skipped_and_failed_are_told_apart(tmp_path):
    done = run_of(tmp_path, {"vm": 0, "swap": 3, "numa": 4, "mmap": 2})
    passed, skipped, failures = judge_stress(done, ["vm", "swap", "numa", "mmap", "fork"])
    assert passed == ["vm"]
    assert skipped == ["swap (no resource)", "numa (not implemented)"]
    assert failures == ["mmap: status 2", "fork: status none: it never ran"]


def test_what_the_kernel_says_and_the_last_check_count(tmp_path):
    done = run_of(tmp_path, {"vm": 0}, status=1, dmesg="[ 1.0] pgtable_replica: difference at level 1\n")
    _, _, failures = judge_stress(done, ["vm"])
    assert failures[0].startswith("kernel: ") and "status 1" in failures[1]


def test_no_stressor_is_named_twice():
    assert len(STRESSORS) == len(set(STRESSORS)) > 25
