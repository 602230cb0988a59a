"""A policy of the imitation: the page's file and line, compiled and asked."""

from __future__ import annotations

import re
import shutil

import pytest

from tessera.core import scenarios
from tessera.machine.container import RunOptions
from tests.docs import pages

from .pages import addition

EVENTS = "mmap 0x40000000 0x3e8000 rw\ntouch 0x40000000 w 0x3e8000\npages 0x40000000 0x3e8000\n"


@pytest.fixture
def changed(root, tmp_path):
    """A checkout with the imitation alone, and the policy."""
    folder = "artifacts/imitation"
    shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns("driver", "tests"))
    addition(pages.PAGES["add-a-policy.md"]).apply(tmp_path)
    return tmp_path


def test_the_page_has_the_example_that_is_tested(root):
    (path, text), *more = addition(pages.PAGES["add-a-policy.md"]).files.items()
    assert not more and path == "artifacts/imitation/vm/policies/eager.c"
    assert text == (root / "artifacts/imitation/tests/policies/eager.c").read_text()
    assert "tests/policies/eager.c" not in (root / "artifacts/imitation/vm/policies.def").read_text()


def test_a_line_is_a_name_of_the_scenarios(root, changed):
    assert scenarios.policies(root) == ("linux-6.12",)
    assert scenarios.policies(changed) == ("linux-6.12", "eager")


@pytest.mark.toolchain
def test_a_file_and_a_line_are_a_policy(changed, tmp_path):
    from tessera.machine.container import toolchain

    imitation, events = changed / "artifacts/imitation", tmp_path / "events"
    events.write_text(EVENTS)
    sources = sorted(
        str(path.relative_to(imitation))
        for path in imitation.rglob("*.c")
        if path.parts[-2] != "bench"
        and not (path.parts[-2] == "cli" and path.name in ("main.c", "collapse_main.c"))
    )
    policies = re.findall(r"^POLICY\((\w+)", (imitation / "vm/policies.def").read_text(), re.MULTILINE)
    assert [f"vm/policies/{name}.c" in sources for name in policies] == [True, True]
    build = f"cd {imitation} && cc -std=gnu17 -O0 -I. -o {tmp_path}/tessera-vm {' '.join(sources)}"
    options = RunOptions(writes=(tmp_path,))
    toolchain().run(["sh", "-ec", build], paths=[changed], capture=True, options=options)

    def replay(policy: str):
        argv = [f"{tmp_path}/tessera-vm", "replay", str(events), "--memory", "1GB", "--policy", policy]
        return toolchain().run(argv, paths=[tmp_path], capture=True, check=False)

    eager = replay("eager").stdout
    counts = [int(count) for count in re.findall(r"^pages .* count=(\d+)$", eager, re.MULTILINE)]
    assert "fault" not in eager and sum(counts) == 1000
    assert replay("linux-6.12").stdout.startswith("fault 0x40000000 w page order=9 ")
    unknown = replay("lazy")
    assert unknown.returncode == 2
    assert all(word in unknown.stderr for word in ("--policy lazy", "linux-6.12", "eager"))
