"""Pages on designs: their code is compiled by the simulator's tests, their names and paths exist.

``docs/howto/add-a-design.md`` and ``docs/reference/design-contract.md``.
"""

from __future__ import annotations

import re

import pytest

from tests.docs import pages

NAMES = ("add-a-design.md", "design-contract.md")


def test_code_is_that_of_the_compiled_examples(root):
    folder = root / "artifacts" / "simulator"
    examples = sorted((folder / "tests" / "examples").glob("*.cpp"))
    compiled = (folder / "CMakeLists.txt").read_text()
    assert examples and all(f"tests/examples/{path.name}" in compiled for path in examples)
    text = "\n".join(path.read_text() for path in examples)
    blocks = [block for name in NAMES for block in pages.blocks(name, "cpp")]
    assert len(blocks) == 3
    for block in blocks:
        assert block in text


def test_every_kind_and_key_is_there(root):
    source = root / "artifacts" / "simulator" / "src"
    rows = pages.table(
        NAMES[0],
        "| `tessera-sim list` | Platform key | Contract (below `src`) | Question that it answers |",
    )
    kinds = re.findall(r'\{"([a-z-]+)", \w+\(\)\.list\(\)\}', (source / "mmu" / "components.cpp").read_text())
    assert sorted(row[0] for row in rows) == sorted(kinds)
    keys = (source / "base" / "platform_keys.def").read_text()
    for row in rows:
        for key in row[1].replace("`", "").split(", "):
            assert f'"{key}"' in keys
        assert (source / row[2]).exists()


@pytest.mark.parametrize("name", NAMES)
def test_paths_exist(root, name):
    page = pages.text(name)
    for link in re.findall(r"\]\((\.\./[^)#]+)", page):
        assert (pages.PAGES[name].parent / link).exists(), link
    simulator = root / "artifacts" / "simulator"
    for path in re.findall(r"`((?:mmu|tlb|base|os|tests|engine)/[a-z_/]+\.(?:h|cpp|def))`", page):
        assert (simulator / path).exists() or (simulator / "src" / path).exists(), path
