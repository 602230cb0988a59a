"""``tessera platform``: what it prints and how it ends."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from tessera.cli.platform import platform
from tessera.core import platforms
from tessera.simulate.platform_files import simulator_refusal


def run(*arguments):
    return CliRunner().invoke(platform, [str(a) for a in arguments], catch_exceptions=False)


def test_list_names_every_platform_with_its_assumed_values():
    lines = run("show").output.splitlines()[: len(platforms.platform_names())]
    assert [line.split()[0] for line in lines] == platforms.platform_names()
    assert all(re.search(r"\((\d+) of (\d+) values assumed\)$", line) for line in lines)


def test_show_assumed_leaves_out_what_is_cited():
    everything, assumed = (
        run("show", "broadwell-sim").output,
        run("show", "broadwell-sim", "--assumed").output,
    )
    assert re.search(r"^tlb\.stlb\.entries +1536 +entries +MICRO'20 Table 4", everything, re.M)
    assert re.search(r"^core\.overlap +1 .*\(default\)$", everything, re.M)
    assert len(re.findall(r"\(default\)$", everything, re.M)) == 22
    assert "tlb.stlb.entries" not in assumed
    rows = assumed.splitlines()
    assert rows[-1] == f"{len(rows) - 1} of {len(everything.splitlines())} values assumed"
    assert all("  assumed: " in row for row in rows[:-1])


@pytest.fixture
def simulator(root):
    if not (root / "build/simulator/tessera-sim").exists():
        pytest.skip("build/simulator/tessera-sim is missing: ./run tessera dev build")


@pytest.mark.toolchain
def test_check_asks_the_simulator_too(simulator, tmp_path):
    text = (platforms.platforms_folder() / "haswell-sim.yaml").read_text()
    good, key, rule, own = (tmp_path / f"{name}.yaml" for name in ("good", "key", "rule", "own"))
    good.write_text(text)
    key.write_text(text.replace("rob_entries:", "rob_entry:"))
    own.write_text(text + "design: {anker: {pages: {value: 1, source: 'assumed: test'}}}\n")
    rule.write_text(re.sub(r"(channels: \{value:) \d+", r"\1 0", text))
    assert run("check", "zen-sim", good).exit_code == 0
    count = len(platforms.load_platform(good).values)
    assert f"accepted, {count} values" in run("check", good).output
    answer = run("check", good, key, rule, own)
    assert answer.exit_code == 2
    for words in (
        "good.yaml: accepted",
        "did you mean core.rob_entries?",
        "dram.channels",
        "design.anker.*",
        "what to do",
    ):
        assert words in answer.output


def test_the_simulators_refusal_keeps_its_three_parts():
    error = simulator_refusal("platform x", 2, "tessera-sim: a: b\n  what to do: c\n")
    assert (error.asked, error.found, error.remedy) == ("platform x", "a: b", "c")
    assert "status 139" in str(simulator_refusal("platform x", 139, ""))
