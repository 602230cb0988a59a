"""A component with keys of its own, and a key of the platform: one file or one line, compiled and asked.

The component of tests/examples is linked to the objects of the built simulator; the key is compiled with the
reader of platform files alone, since all of the simulator would take minutes.
"""

from __future__ import annotations

import csv
import io
from types import SimpleNamespace

import pytest

from tessera.core import platforms
from tessera.simulate import platform_files as check

from .pages import addition

pytestmark = pytest.mark.toolchain
COMPONENT = "artifacts/simulator/tests/examples/victim_buffer.cpp"
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


@pytest.fixture(scope="module")
def simulator(root, toolchain, tmp_path_factory):
    """tessera-sim with one more component, and how to run it."""
    folder, build = tmp_path_factory.mktemp("component"), root / "build/simulator"
    listed = toolchain.run(["ninja", "-C", str(build), "-t", "commands", "tessera-sim"], capture=True).stdout
    commands = listed.splitlines()
    compile_one = next(line for line in commands if line.endswith("src/mmu/conventional.cpp"))
    flags = compile_one.split(" -MD")[0].replace("-O3", "-O1")
    link = next(line for line in reversed(commands) if " -o tessera-sim " in line)
    link = link.replace(" -o tessera-sim ", f" -o {folder}/tessera-sim {folder}/one.o ")
    script = f"cd {build} && {flags} -o {folder}/one.o -c {root / COMPONENT} && {link}"
    toolchain.run(["sh", "-ec", script], paths=[folder])
    return folder / "tessera-sim"


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
    compile_all = f"printf '%s\\n' {files} | xargs -P 2 -n 1 g++ -std=c++20 -O0 -I{source} -c"
    script = f"cd {tmp_path} && {compile_all} && g++ *.o -o main && ./main p.flat"
    done = toolchain.run(["sh", "-ec", script], paths=[tmp_path, checkout], capture=True)
    assert done.stdout.splitlines() == ["2 1", "7 0"]
