"""A component with keys of its own, and a key of the platform: one file or one line, compiled and asked.

The component of tests/examples is linked to the objects of the built simulator; the key is compiled with the
reader of platform files alone, since all of the simulator would take minutes.
"""

from __future__ import annotations

import csv
import io
import re
from types import SimpleNamespace

import pandas as pd
import pytest

from tessera.core import platforms
from tessera.machine.container import RunOptions
from tessera.simulate import platform_files as check
from tessera.simulate import runner
from tessera.simulate import simulator as simulator_process
from tests.docs import pages

from .pages import addition

pytestmark = pytest.mark.toolchain
EXAMPLES = "artifacts/simulator/tests/examples"
KEY = "design.example-victim-buffer.victims"
OWN = """
mmu: {design: {value: example-victim-buffer, source: "assumed: a test"}}
design: {example-victim-buffer: {VICTIMS: {value: NUMBER, source: "assumed: a test"}}}
"""
MAIN = """
#include <cstdio>
#include <fstream>
#include <iterator>
#include "base/platform.h"
int main(int, char** arguments) {
    std::ifstream file(arguments[1]);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const std::string line : {"", "core.l1d_ports = 7\\n"}) {
        const auto p = tessera::sim::parse_platform(text + line, "p");
        std::printf("%llu %zu\\n", static_cast<unsigned long long>(p.l1d_ports), p.filled.size());
    }
}
"""


@pytest.fixture(scope="module")
def toolchain(root):
    from tessera.machine.container import toolchain

    if not (root / "build/simulator/tessera-sim").exists():
        pytest.skip("build/simulator/tessera-sim is missing: ./run tessera dev build")
    return toolchain()


def linked(root, toolchain, folder, example):
    """tessera-sim with one more component, in the folder."""
    build = root / "build/simulator"
    listed = toolchain.run(["ninja", "-C", str(build), "-t", "commands", "tessera-sim"], capture=True).stdout
    commands = listed.splitlines()
    compile_one = next(line for line in commands if line.endswith("src/mmu/conventional.cpp"))
    flags = compile_one.split(" -MD")[0].replace("-O3", "-O1")
    link = next(line for line in reversed(commands) if " -o tessera-sim " in line)
    link = link.replace(" -o tessera-sim ", f" -o {folder}/tessera-sim {folder}/one.o ")
    script = f"cd {build} && {flags} -o {folder}/one.o -c {root / EXAMPLES / example} && {link}"
    toolchain.run(["sh", "-ec", script], options=RunOptions(writes=(folder,)))
    return folder / "tessera-sim"


@pytest.fixture(scope="module")
def simulator(root, toolchain, tmp_path_factory):
    return linked(root, toolchain, tmp_path_factory.mktemp("component"), "victim_buffer.cpp")


@pytest.fixture
def ask(simulator, toolchain):
    def ask(*words):
        done = toolchain.run([str(simulator), *words], paths=[simulator.parent], capture=True)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    return ask


def test_its_keys_are_printed(ask):
    (row,) = [row for row in ask("keys") if row["key"] == KEY]
    assert (row["unit"], row["least"], row["most"], row["default"]) == ("entries", "0", "64", "4")
    assert row["source"].startswith("assumed: ") and row["description"]
    (row,) = [row for row in ask("list", "designs") if row["name"] == "example-victim-buffer"]
    assert row["keys"] == KEY


@pytest.mark.parametrize(
    ("key", "number", "status", "words"),
    [
        ("victims", 64, 0, []),
        ("victims", 65, 2, [KEY, "from 0 to 64"]),
        ("victim", 1, 2, ["did you mean victims?"]),
    ],
)
def test_a_platform_gives_them(simulator, toolchain, tmp_path, key, number, status, words):
    yaml = tmp_path / "p.yaml"
    text = (platforms.platforms_folder() / "haswell-sim.yaml").read_text()
    yaml.write_text(text + OWN.replace("VICTIMS", key).replace("NUMBER", str(number)))
    flat = tmp_path / "p.flat"
    flat.write_text(platforms.load_platform(yaml).flat())
    argv = [str(simulator), "check", "--platform", str(flat)]
    done = toolchain.run(argv, paths=[tmp_path, simulator.parent], capture=True, check=False)
    assert done.returncode == status
    assert all(word in done.stderr for word in words), done.stderr


def test_check_says_what_took_its_default_and_what_is_not_in_use(simulator, toolchain, tmp_path, monkeypatch):
    def run(argv, paths, **options):
        return toolchain.run(argv, paths=[*paths, simulator.parent], **options)

    monkeypatch.setattr(check, "built", lambda *_: simulator)
    monkeypatch.setattr(check, "toolchain", lambda: SimpleNamespace(run=run))
    text = (platforms.platforms_folder() / "haswell-sim.yaml").read_text()
    mmu, design = OWN.strip().splitlines()
    (tmp_path / "default.yaml").write_text(f"{text}{mmu}\n")
    _, (remark,) = check.check_platform(tmp_path / "default.yaml")
    assert remark.startswith(f"default: {KEY} = 4 (assumed: ")
    design = design.replace("VICTIMS", "victims").replace("NUMBER", "999")
    (tmp_path / "other.yaml").write_text(f"{text}{design}\n")
    assert check.check_platform(tmp_path / "other.yaml")[1] == ("not in use: design.example-victim-buffer",)


def test_the_recipe_of_a_design_prints_what_the_page_shows(root, toolchain, tmp_path, monkeypatch):
    path = linked(root, toolchain, tmp_path, "next_page.cpp")

    def popen(argv, paths, **options):
        return toolchain.popen(argv, paths=[*paths, tmp_path], **options)

    monkeypatch.chdir(root)
    monkeypatch.setattr(runner, "built", lambda *_: path)
    monkeypatch.setattr(simulator_process, "toolchain", lambda: SimpleNamespace(popen=popen))
    (simulate, _), (cut, shown) = pages.sessions("add-a-design.md")
    here = {"/tmp/": f"{tmp_path}/"}
    pages.invoke(pages.replaced(simulate, here))
    assert pages.shell(pages.replaced(cut, here), root).splitlines() == shown
    off = " --set design.example-next-page.entries=0 --set design.example-next-page.cycles=0"
    assert off.strip() in " ".join(pages.text("add-a-design.md").split())
    alone = " --set mmu.design=example-next-page" + off
    pages.invoke(re.sub(r" --each \S+", alone, pages.replaced(simulate, here)).replace("cells", "off"))
    off_row, rows = pd.read_csv(tmp_path / "next-page/off.csv"), pd.read_csv(tmp_path / "next-page/cells.csv")
    counts = ["runtime_cycles", "stlb_hits", "stlb_misses", "walk_cycles"]
    assert off_row[counts].iloc[0].equals(rows.loc[rows["mmu.design"] == "thp", counts].iloc[0])


def test_a_key_is_a_field_of_the_platform(root, checkout, toolchain, tmp_path):
    table = "artifacts/simulator/src/base/platform_keys.def"
    if "core.l1d_ports" not in (checkout / table).read_text():
        addition(root / "docs/howto/add-a-platform.md").apply(checkout)
    source = checkout / "artifacts/simulator/src"
    (tmp_path / "main.cpp").write_text(MAIN)
    flat = platforms.load_platform("haswell-sim").flat()  # written before there was such a key
    (tmp_path / "p.flat").write_text(flat)
    readers = [
        str(source / f"base/{name}.cpp") for name in ("platform", "platform_keys", "platform_rules", "text")
    ]
    files = " ".join([*readers, "main.cpp"])
    include = f"-I{source} -I{root / 'artifacts/common/include'}"
    compile_all = f"printf '%s\\n' {files} | xargs -P 2 -n 1 g++ -std=c++20 -O0 {include} -c"
    script = f"cd {tmp_path} && {compile_all} && g++ *.o -o main && ./main p.flat"
    options = RunOptions(writes=(tmp_path,))
    done = toolchain.run(["sh", "-ec", script], paths=[checkout], capture=True, options=options)
    assert done.stdout.splitlines() == ["2 1", "7 0"]
