"""The guest's program `leafops`, in the toolchain: it runs on any kernel, and checks its own pages."""

from __future__ import annotations

import pytest

from tessera.lab.kernel.source import kernel_folder
from tessera.machine.container import RunOptions
from tessera.machine.container.toolchain import toolchain

pytestmark = pytest.mark.toolchain

SCRIPT = r"""cd "$1" || exit
gcc -std=gnu11 -O2 -Wall -Werror -static -o leafops "$2"/leafops.c || exit
./leafops leaves 2 10 490 > leaves.csv || exit
./leafops tables 1 5 > tables.csv || exit
for words in '' 'leaves 0 1' 'trees 1 1' 'tables 1 501' 'leaves 1 0' 'leaves 1 10 x'; do
    ./leafops $words > /dev/null 2>> refused.err
    echo "$? $words" >> refused
done
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leafops")
    argv = ["sh", "-c", SCRIPT, "sh", folder, kernel_folder() / "experiments"]
    toolchain().run(argv, options=RunOptions(writes=(folder,)))
    return folder


def test_each_operation_is_counted_for_each_kind_of_page(done):
    lines = (done / "leaves.csv").read_text().splitlines()
    assert lines[0] == "operation,pages,entries,repeat,instructions" and lines[1].startswith("calibration,")
    rows = [line.rsplit(",", 2)[0] for line in lines[2:]]
    expected = {
        f"{operation},{pages}"
        for pages in ("dirty", "accessed", "clean")
        for operation in ("mprotect", "mremap", "munmap", "fork")
    }
    expected |= {f"{operation},file" for operation in ("mmap", "mprotect", "mremap", "munmap")}
    expected |= {"mmap,dirty", "madvise,dirty"}
    assert set(rows) == {f"{row},{entries}" for row in expected for entries in (10, 490)}
    assert len(rows) == 2 * len(set(rows)) and all(int(line.rsplit(",", 1)[1]) > 0 for line in lines[2:])


def test_tables_are_moved(done):
    assert (done / "tables.csv").read_text().splitlines()[-1].startswith("mremap,tables,5,0,")


def test_numbers_that_it_cannot_count_are_refused(done):
    assert {line.split()[0] for line in (done / "refused").read_text().splitlines()} == {"2"}
    assert "501 tables: it must be a number of 1 to 500" in (done / "refused.err").read_text()
