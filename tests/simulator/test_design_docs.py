"""docs/howto/add-a-design.md: its code is compiled by the simulator's tests, its names and paths exist."""

from __future__ import annotations

import re

import pytest


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "howto" / "add-a-design.md").read_text()


def test_code_is_that_of_the_compiled_examples(root, page):
    folder = root / "artifacts" / "simulator"
    examples = sorted((folder / "tests" / "examples").glob("*.cpp"))
    compiled = (folder / "CMakeLists.txt").read_text()
    assert examples and all(f"tests/examples/{path.name}" in compiled for path in examples)
    text = "\n".join(path.read_text() for path in examples)
    blocks = re.findall(r"```cpp\n(.*?)```", page, re.S)
    assert len(blocks) == 3
    for block in blocks:
        assert block in text


def test_every_kind_and_key_is_there(root, page):
    source = root / "artifacts" / "simulator" / "src"
    table = [line for line in page.splitlines() if line.startswith("| `")][1:]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table]
    kinds = re.findall(r'\{"([a-z-]+)", \w+\(\)\.list\(\)\}', (source / "mmu" / "components.cpp").read_text())
    assert sorted(row[0].strip("`") for row in rows) == sorted(kinds)
    keys = (source / "base" / "platform_keys.def").read_text()
    for row in rows:
        for key in re.findall(r"`([^`]+)`", row[1]):
            assert f'"{key}"' in keys
        assert (source / row[2].strip("`")).exists()


def test_paths_exist(root, page):
    for link in re.findall(r"\]\(\.\./([^)]+)\)", page):
        assert (root / link).exists(), link
    simulator = root / "artifacts" / "simulator"
    for path in re.findall(r"`((?:mmu|tlb|base|tests|engine)/[a-z_/]+\.(?:h|cpp|def))`", page):
        assert (simulator / path).exists() or (simulator / "src" / path).exists(), path
