"""The misses that place the sliding windows are kept below the layouts, where nothing takes them for one."""

from __future__ import annotations

import pandas as pd
import pytest

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import layout_files
from tessera.simulate import choose_layouts

MB = 1 << 20


def test_the_profile_is_kept_and_is_no_layout(tmp_path, monkeypatch):
    def profile(trace, platform, out):
        out.write_text(f"pool,offset_bytes,stlb_misses\nmmap,{4 * MB},70\nmmap,{6 * MB},30\n")
        return out

    monkeypatch.setattr(choose_layouts, "miss_profile", profile)
    pools = [
        {"kind": "brk", "base": 0, "size_bytes": 1 << 30, "used_bytes": 4096, "distinct_4kb_pages": 1},
        {
            "kind": "mmap",
            "base": 1 << 30,
            "size_bytes": 1 << 30,
            "used_bytes": 64 * MB,
            "distinct_4kb_pages": 9,
        },
    ]
    platform = platforms.load_platform(platforms.platform_names()[0])
    made = choose_layouts.write_chosen_layouts(
        tmp_path / "t", {"pools": pools}, platform, tmp_path, seed=1, random_count=9
    )
    kept = pd.read_csv(tmp_path / "profile" / "misses.csv")
    assert list(kept["stlb_misses"]) == [70, 30]
    assert len(made.manifest) == 55 and (tmp_path / "growing-8.csv").exists()
    assert all(path.parent == tmp_path for path in layout_files(tmp_path))


@pytest.mark.parametrize("windows, places", [("touched", 2), ("allocated", 33)])
def test_windows_lie_on_touched_pages_or_in_the_papers_space(tmp_path, monkeypatch, windows, places):
    def profile(trace, platform, out):
        out.write_text(f"pool,offset_bytes,stlb_misses\nmmap,{4 * MB},70\nmmap,{6 * MB},30\n")
        return out

    monkeypatch.setattr(choose_layouts, "miss_profile", profile)
    pools = [
        {"kind": kind, "base": base << 30, "size_bytes": 1 << 30, "used_bytes": used}
        for kind, base, used in (("brk", 0, 4096), ("mmap", 1, 64 * MB))
    ]
    asked = {"seed": 1, "random_count": 9}
    platform = platforms.load_platform(platforms.platform_names()[0])
    made = choose_layouts.write_chosen_layouts(
        tmp_path / "t", {"pools": pools}, platform, tmp_path, windows=windows, **asked
    )
    assert made.space.places == places
    with pytest.raises(TesseraError, match="'all'"):
        choose_layouts.write_chosen_layouts(
            tmp_path / "t", {"pools": pools}, platform, tmp_path, windows="all", **asked
        )
