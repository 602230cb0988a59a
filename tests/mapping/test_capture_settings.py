"""What a capture reads beside /proc: settings of transparent huge pages, and the file of the pools."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.measure.mosalloc import pools
from tessera.measure.mosalloc.pools import MAGIC, PoolPlace, clear_pool_map, read_pool_map


@pytest.mark.parametrize(
    ("mode", "enabled", "large"),
    [
        ("never", "always", False),
        ("always", "madvise", True),
        ("always", "always", True),
        ("as-is", "always", True),
        ("as-is", "madvise", False),
        ("as-is", "never", False),
    ],
)
def test_which_settings_give_large_pages(tmp_path, mode, enabled, large):
    words = (f"[{word}]" if word == enabled else word for word in ("always", "madvise", "never"))
    (tmp_path / "enabled").write_text(" ".join(words) + "\n")
    (tmp_path / "khugepaged").mkdir()
    (tmp_path / "khugepaged/defrag").write_text("1\n")
    machine = pools.large_page_settings(tmp_path)
    assert machine == {"enabled": enabled, "khugepaged/defrag": "1"}
    assert pools.large_pages_wanted(mode, machine) is large


def test_a_machine_without_large_pages_refuses_them():
    for machine in ({}, {"enabled": "never"}):
        with pytest.raises(TesseraError) as error:
            pools.large_pages_wanted("always", machine)
        assert error.value.code == "mapping/thp"


def test_the_pool_map_is_that_of_the_header(root, tmp_path):
    header = (root / "artifacts/mosalloc/include/mosalloc/pool_map.h").read_text()
    assert int(re.search(r"POOL_MAP_MAGIC UINT64_C\((0x\w+)\)", header).group(1), 16) == MAGIC
    path = tmp_path / "pools"
    words = [MAGIC, 9, 1, 0, 0, 0, 10, 20, 30, 40, 50, 1, 11, 21, 31, 41, 51]
    np.array(words, dtype="<u8").tofile(path)
    assert read_pool_map(path, 9) == [PoolPlace("brk", 10, 20, 30), PoolPlace("mmap", 11, 21, 31)]
    assert read_pool_map(path, 8) == []
    np.array([MAGIC, 9, 2, *words[3:]], dtype="<u8").tofile(path)  # the library refused
    assert read_pool_map(path, 9) == []
    np.array(words, dtype="<u8").tofile(path)
    clear_pool_map(path)
    assert read_pool_map(path, 9) == []
    clear_pool_map(tmp_path / "none")
    path.write_bytes(b"")
    assert read_pool_map(path, 9) == []
