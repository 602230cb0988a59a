"""Second names of a checkout whose path LD_PRELOAD cannot hold: recordings without fixed names, sysroots."""

from __future__ import annotations

import pytest

from tessera.machine.container import RunOptions
from tessera.machine.program_paths import CHECKOUT, FixedNames
from tessera.record.traces.guest import TracedProgram, ldd_paths


@pytest.fixture(params=["plain", "a folder with spaces"])
def checkout(tmp_path, monkeypatch, request):
    """A checkout with built libraries, and the name that LD_PRELOAD gets for it in a container."""
    root = (tmp_path / request.param).resolve()
    for name in ("tracer/libtessera-trace.so", "mosalloc/libmosalloc.so"):
        path = root / "build" / name
        path.parent.mkdir(parents=True)
        path.touch()
    monkeypatch.setenv("TESSERA_ROOT", str(root))
    return root, str(root) if request.param == "plain" else CHECKOUT


@pytest.mark.parametrize("fixed", [False, True], ids=["real", "fixed"])
def test_the_library_has_a_name_that_the_container_mounts(checkout, fixed):
    root, name = checkout
    names = FixedNames({root: CHECKOUT} if fixed else {})
    guest = TracedProgram(root / "p", ["p"], root / "run", 1, 1, preload=names.preloadable)
    assert f"LD_PRELOAD={name}/build/mosalloc/libmosalloc.so" in guest.qemu_words()
    also = names.mounted(RunOptions(hostname="x"))
    assert also.hostname == "x"
    assert also.also == (((root, CHECKOUT),) if fixed or name == CHECKOUT else ())


def test_ldd_may_name_libraries_in_folders_with_spaces():
    said = (
        "\tlinux-vdso.so.1 (0x00007ffc)\n\tliba b.so => /x y/(1)/liba b.so (0x00007f70)\n"
        "\tlibz.so => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f71)\n"
    )
    assert ldd_paths(said) == ["/x y/(1)/liba b.so", "/lib64/ld-linux-x86-64.so.2"]
