"""Rules about the simulator's sources that no compiler checks."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

#: Bottom-up; a folder includes only itself and folders of lower rank.
RANK = {
    "base": 0, "replacement": 1, "branch": 2, "cache": 2, "os": 2, "tlb": 2, "pagetable": 3, "mmu": 4,
    "engine": 5, "cli": 6,
}  # fmt: skip
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def sources(root):
    """All sources of the simulator, with the folder that ranks them."""
    top = root / "artifacts" / "simulator" / "src"
    return [(path, path.relative_to(top).parts[0]) for path in sorted(top.rglob("*.[ch]*"))]


def test_includes_go_downward_only(root):
    wrong = []
    for path, folder in sources(root):
        for included in INCLUDE.findall(path.read_text()):
            target = included.split("/")[0]
            if target == "tessera":  # the public headers of the trace reader and the layout format
                continue
            assert target in RANK, f"{path}: {included} is in no layer"
            if target != folder and RANK[target] >= RANK[folder]:
                wrong.append(f"{path.name} ({folder}) includes {included}")
    assert not wrong


def test_every_folder_is_in_the_readme(root):
    readme = (root / "artifacts" / "simulator" / "README.md").read_text()
    for folder in RANK:
        assert f"`src/{folder}`" in readme


@pytest.mark.toolchain
@pytest.mark.parametrize("name", ["machine_avx512", "group_avx512", "anchor_avx512"])
def test_avx512_object_shares_no_template_with_the_rest(root, name):
    """A C++ library template compiled for AVX-512 could be the copy that the linker keeps for all."""
    built = list((root / "build" / "simulator").rglob(f"{name}.cpp.o"))
    if not built or shutil.which("nm") is None:
        pytest.skip("build/simulator or nm is missing: ./run tessera dev build")
    listing = subprocess.run(["nm", "-C", built[0]], check=True, capture_output=True, text=True).stdout
    shared = [line for line in listing.splitlines() if re.match(r"^[0-9a-f]+ [VWu] ", line)]
    allowed = (
        "lanes::avx512",
        "lanes::Machine",
        "timing::avx512",
        "timing::ClockGroup",
        "DW.ref.__gxx_personality_v0",
    )
    assert [line for line in shared if not any(word in line for word in allowed)] == []
