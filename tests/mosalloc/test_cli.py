"""``tessera mosalloc``: statuses pass through, layouts are checked first."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from tessera.cli.mosalloc.group import mosalloc
from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_2MB
from tessera.measure.mosalloc import read_report
from tessera.measure.mosalloc.memory_needs import DEFAULT_POOL_BYTES


def invoke(*arguments):
    return CliRunner().invoke(mosalloc, list(map(str, arguments)))


@pytest.mark.toolchain
def test_the_programs_status_is_the_status(build, layout, tmp_path):
    report = tmp_path / "r.json"
    done = invoke(
        "run", "--layout", layout(), "--report", report, "--", sys.executable, "-c", "raise SystemExit(5)"
    )
    assert done.exit_code == 5
    assert read_report(report).exit_status == 5


def test_a_malformed_layout_is_refused_before_anything_runs(layout):
    done = invoke("run", "--layout", layout("heap,-1,0,4096"), "--", "true")
    assert isinstance(done.exception, TesseraError) and "column type" in str(done.exception)


def test_check_says_what_is_fine(layout):
    done = invoke("check", layout())
    assert done.exit_code == 0 and "ok, 0 windows" in done.output


@pytest.mark.parametrize("pool", ["brk", "mmap"])
def test_check_knows_the_default_pools(layout, pool):
    """The first window behind the default pool is refused; the last one in it only lacks its page."""
    end = DEFAULT_POOL_BYTES[pool]
    header = "type,pageSize,startOffset,endOffset\n"
    done = invoke("check", layout(f"{pool},2MB,{end},{end + PAGE_2MB}", pools=header))
    assert isinstance(done.exception, TesseraError)
    assert f"add a row: {pool},-1,0," in str(done.exception)
    done = invoke("check", layout(f"{pool},2MB,{end - PAGE_2MB},{end}", pools=header))
    assert done.exit_code == 0 or "huge pages for" in str(done.exception)


def test_check_names_missing_huge_pages(layout):
    pools = "type,pageSize,startOffset,endOffset\nmmap,-1,0,8TB\n"
    done = invoke("check", layout("mmap,2MB,0,4TB", pools=pools))
    assert isinstance(done.exception, TesseraError) and done.exception.exit_code == 1
    assert "2097152 pages of 2MB" in str(done.exception)


def test_a_damaged_report_is_named(tmp_path):
    path = tmp_path / "r.json"
    path.write_text("{}")
    with pytest.raises(TesseraError, match=r"mosalloc report .*r.json"):
        read_report(path)
