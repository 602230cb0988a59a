"""The kernel with replicated page tables: built, booted, its selftests and stress, commands of its page."""

import os
import re
import subprocess

import pandas as pd
import pytest

from tests.docs import pages

from .conftest import ROOT, run_sh

pytestmark = [
    pytest.mark.alone,
    pytest.mark.slow,
    pytest.mark.toolchain,
    pytest.mark.skipif(os.environ.get("TESSERA_ENGINE") == "none", reason="its tools are in an image"),
]
COMPONENT = ROOT / "artifacts" / "kernel"
RESULTS = ROOT / "results" / "smoke" / "kernel" / "test"
#: The first time an image and a kernel are built: 10 minutes, longer beside other jobs.
LIMIT_SECONDS = 2400


@pytest.fixture(scope="module")
def tested() -> pd.DataFrame:
    """The table that `snakemake kernel_smoke` wrote."""
    snakemake = "snakemake --cores all kernel_smoke --configfile config/smoke.yaml"
    done = subprocess.run(
        ["bash", "-c", f". .venv/bin/activate && {snakemake}"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_SECONDS,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return pd.read_csv(RESULTS / "summary.csv").set_index("part")


def cases() -> int:
    """Selftests that the sources define."""
    tables = [
        re.search(r"const struct selftest \w+\[\] = \{\n(.*?)^\};", path.read_text(), re.S | re.M)
        for path in (COMPONENT / "selftests").glob("*.c")
    ]
    listed = sum(len(re.findall(r'^\t\{ "', found.group(1), re.M)) for found in tables if found)
    return listed + len(re.findall(r"\bresult \$\?", (COMPONENT / "selftests" / "policies.sh").read_text()))


def test_every_selftest_passes(tested):
    assert cases() > 40
    assert (tested.passed["selftests"], tested.failed["selftests"]) == (cases(), 0)


def test_stress_leaves_no_difference_to_either_observer(tested):
    assert tested.failed.sum() == 0
    assert tested.passed["replicas compared from outside"] >= 4
    stats = dict(
        line.split() for line in (RESULTS / "stress" / "stdout").read_text().splitlines() if " " in line
    )
    assert int(stats["checks"]) > 100 and int(stats["differences"]) == 0


def commands() -> list[str]:
    """What docs/explain/kernel.md has a reader type that needs no other kernel and no quarter of an hour.

    With whatever version of the source Debian has today, as the pipeline does it.
    """
    text = pages.text("kernel.md")
    found = re.findall(
        r"^\./run (tessera lab (?:kernel boot|kernel pagetables|run kernel-table4).*)$", text, re.M
    )
    return [command.split("  #")[0].strip() for command in found]


def test_the_commands_of_the_page(tested, tmp_path):
    assert len(commands()) >= 3
    for command in commands():
        command = re.sub("(kernel boot|pagetables-dump)", r"\1 --accept-series", command)
        done = run_sh(*command.replace("/tmp/", f"{tmp_path}/").split(), timeout=600)
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}"
    assert len(pd.read_csv(tmp_path / "skewed" / "placement.csv")) > 0
