"""The proof that a forgotten hook is reported, judged from reports that are made up here."""

import re

from tessera.lab.kernel import image, source
from tessera.lab.kernel.mutants import HookReports, judge_hook

LINE = "pgtable_replica: difference: level 1"


def test_both_observers_must_report_the_broken_kernel_and_none_the_whole_one():
    table = judge_hook({"checked": HookReports([], []), "broken": HookReports([LINE, LINE], ["walk"])})
    assert table.passed.all() and table.reports.tolist() == [0, 0, 2, 1]


def test_one_silent_observer_is_a_failure():
    table = judge_hook({"broken": HookReports([LINE], [])}).set_index("observer")
    assert table.passed["checker"] and not table.passed["walker"]


def test_a_report_of_the_whole_kernel_is_a_failure():
    assert judge_hook({"checked": HookReports([], ["walk"])}).passed.tolist() == [True, False]


def test_the_broken_kernel_lacks_lines_that_the_series_adds():
    added = "\n".join(patch.read_text() for patch in source.patches())
    for variant in image.VARIANTS.values():
        if variant.broken:
            text = (source.kernel_folder() / "broken" / f"{variant.broken}.patch").read_text()
            taken = re.findall(r"^-(?!-)(.*)$", text, re.MULTILINE)
            assert taken and all(f"\n+{line}\n" in added for line in taken)
