"""The proof that the tests notice hooks which are left out, judged from reports that are made up here."""

import re

import pytest

from tessera.core.errors import TesseraError
from tessera.lab.kernel import image, mutants, source
from tessera.lab.kernel.guest import GuestRun
from tessera.lab.kernel.mutants import (
    ALL,
    FEW,
    MUTANTS,
    SLOW_READERS,
    UNREACHED,
    WHOLE,
    Observed,
    Walker,
    chosen,
    judge,
)

SEEN = Observed(checker=2)
BROKEN = source.kernel_folder() / "broken"


def looks(*, unnoticed=(), noticed=(), stopped=()):
    """An observation that notices all mutants but some; and the folders that it was asked for."""
    asked = []

    def look(runs, out):
        asked.append(str(out))
        for name in stopped:
            if str(out) == name:
                raise TesseraError("a run", "stopped", "read", code="guest-stopped")
        return {
            name: SEEN if name in noticed or (hook and name not in unnoticed) else Observed()
            for name, case, hook in runs
        }

    return look, asked


def test_every_mutant_is_found_and_the_whole_kernel_is_clean():
    look, asked = looks()
    table = judge(chosen([ALL]), look)
    whole = table[table.mutant == WHOLE]
    assert set(whole.case) == {mutant.case for mutant in MUTANTS} and set(whole.status) == {"clean"}
    assert set(table.status[table.mutant != WHOLE]) == {"found"} and len(table) == len(whole) + len(MUTANTS)
    assert asked == ["together", *(mutant.name for mutant in MUTANTS if mutant.alone)]


def test_a_mutant_that_nobody_notices_is_missed():
    look, _ = looks(unnoticed=["set_pmd"])
    table = judge(chosen(FEW), look).set_index("mutant")
    assert table.status["set_pmd"] == "missed" and table.noticed_by["set_pmd"] == ""
    assert table.status["pmdp_get"] == "found" and table.noticed_by["pmdp_get"] == "checker"


def test_a_report_of_the_whole_kernel_is_one_too_many():
    look, _ = looks(noticed=["whole-tables"])
    table = judge(chosen(["set_pmd"]), look)
    assert table.status.tolist() == ["noticed", "found"]


def test_a_guest_that_stops_has_noticed():
    look, _ = looks(stopped=["arch_leave_lazy_mmu_mode"])
    table = judge(chosen(["arch_leave_lazy_mmu_mode"]), look).set_index("mutant")
    assert (
        table.program["arch_leave_lazy_mmu_mode"] == mutants.STOPPED
        and table.status["arch_leave_lazy_mmu_mode"] == "found"
    )


def test_an_unknown_hook_lists_the_known_ones():
    with pytest.raises(TesseraError, match="set_pmd"):
        chosen(["set_pmx"])


def test_what_the_guest_says_is_read(tmp_path):
    (tmp_path / "stdout").write_text(
        "observed whole-move 0 0 0\nobserved move 142 3 -1\nobserved other 1 0 8\n"
    )
    (tmp_path / "move.log").write_text(
        "WARNING: CPU: 0 PID: 7 at arch/x86/mm/pgtable_replica/check.c:28 report+0x1\n"
        "pgtable_replica: difference: level 1\nBUG: Bad page state in process witness\n"
    )
    walker = Walker()
    walker.found = ["walk move, node 1: level 1", "walk mover, node 2: level 1"]
    seen = mutants.read_observed(GuestRun(0, tmp_path, "6.12", 5.0), walker)
    assert seen["whole-move"] == Observed() and seen["whole-move"].observers == []
    assert seen["move"] == Observed(checker=3, walker=1, program="status 142", log=1)
    assert seen["other"].observers == ["program", "left"]


def test_a_case_that_lacks_something_is_an_error(tmp_path):
    (tmp_path / "stdout").write_text("observed a 4 0 0\n")
    (tmp_path / "a.said").write_text("witness: no transparent huge page was free\n")
    with pytest.raises(TesseraError, match="no transparent huge page"):
        mutants.read_observed(GuestRun(0, tmp_path, "6.12", 5.0), Walker())


def test_the_patch_has_each_hook_once_in_its_list_and_in_the_code():
    text = (BROKEN / f"{image.VARIANTS['broken'].broken}.patch").read_text()
    added = "\n".join(re.findall(r"^\+(.*)$", text, re.MULTILINE))
    named = re.findall(r"\bhook\((\w+)\)", added)
    used = set(re.findall(r"pgtable_replica_(?:skips|left_out)\((\w+)\)", added)) - {"name"}
    assert len(named) == len(set(named)) and set(named) == used
    assert set(named) == {mutant.name for mutant in MUTANTS} | {*UNREACHED, SLOW_READERS}


def test_the_witness_has_every_case_and_no_other():
    text = (BROKEN / "witness.c").read_text()
    cases = re.findall(r'^\t\{ "([\w-]+)", \w+ \},$', text, re.MULTILINE)
    assert set(cases) == {mutant.case for mutant in MUTANTS} and len(cases) == len(set(cases))


def test_the_broken_kernel_changes_lines_that_the_series_adds():
    added = "\n".join(patch.read_text() for patch in source.patches())
    for variant in image.VARIANTS.values():
        if variant.broken:
            text = (BROKEN / f"{variant.broken}.patch").read_text()
            taken = re.findall(r"^-(?!-)(.*)$", text, re.MULTILINE)
            assert taken and all(f"\n+{line}\n" in added for line in taken)


def test_the_few_of_the_default_run_need_one_guest():
    assert not any(mutant.alone for mutant in chosen(FEW))
    assert len(chosen(FEW)) == len(FEW) < len(chosen([ALL])) == len(MUTANTS)
