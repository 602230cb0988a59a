"""What the statuses of the kernel's own tests mean, from a run that is made up here."""

from tessera.lab.kernel.guest import GuestRun
from tessera.lab.kernel.third_party_tests import judge_selftests


def test_only_what_replicas_break_is_a_failure(tmp_path):
    statuses = {"cow": (0, 0), "mremap_test": (1, 1), "thuge-gen": (4, 4), "mkdirty": (0, 1), "gone": None}
    (tmp_path / "stdout").write_text(
        "".join(
            f"{name} plain {both[0]}\n{name} replicated {both[1]}\n"
            for name, both in statuses.items()
            if both
        )
    )
    table, failures = judge_selftests(GuestRun(0, tmp_path, "6.12", 1.0), list(statuses))
    assert table.outcome.tolist() == ["passed", "inconclusive", "inconclusive", "failed", "failed"]
    assert table.iloc[2, 1:3].tolist() == ["skipped", "skipped"]
    assert failures == [
        "mkdirty: passed without replicas, status 1 with",
        "gone: never ran without replicas, never ran with",
    ]


def test_complaints_of_the_kernel_and_the_checker_are_failures(tmp_path):
    (tmp_path / "stdout").write_text("cow plain 0\ncow replicated 0\n")
    (tmp_path / "dmesg").write_text("BUG: bad page\n")
    _, failures = judge_selftests(GuestRun(1, tmp_path, "6.12", 1.0), ["cow"])
    assert failures[0] == "kernel: BUG: bad page" and "status 1" in failures[1]
