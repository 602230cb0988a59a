"""The library and its launcher under other C libraries: older and newer glibc, and musl."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tessera.allocator_proof.libraries.symbols import OLDEST_GLIBC, glibc_version, needed
from tessera.core.errors import TesseraError

pytestmark = pytest.mark.toolchain

SHARED = ("libmosalloc.so", "mosalloc-run", "cases", "differential")
SYSTEM_LIBRARIES = {"libc.so.6", "ld-linux-x86-64.so.2"}


@pytest.mark.parametrize("name", SHARED)
def test_no_symbol_is_newer_than_glibc_2_34(build, name):
    found = needed(build / name)
    assert found.glibc()  # it uses glibc, so its versions must be found
    assert max(found.glibc()) <= OLDEST_GLIBC, found.versions


@pytest.mark.parametrize("name", ["libmosalloc.so", "mosalloc-run"])
def test_nothing_but_glibc_is_needed(build, name):
    found = needed(build / name)
    assert "libc.so.6" in found.libraries and set(found.libraries) <= SYSTEM_LIBRARIES


@pytest.mark.parametrize(("symbol", "version"), [("arc4random", (2, 36)), ("_dl_find_object", (2, 35))])
def test_a_newer_symbol_is_found(tmp_path, symbol, version):
    """The reader must see a version after 2.34, also of a symbol that no code runs into."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler (cc); apt install gcc libc6-dev")
    source, library = tmp_path / "new.c", tmp_path / "libnew.so"
    source.write_text(f"int {symbol}();\nint never(void) {{ return {symbol}(); }}\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    assert max(needed(library).glibc()) == version > OLDEST_GLIBC


def test_versions_are_numbers():
    assert glibc_version("GLIBC_2.4") < glibc_version("GLIBC_2.34") < glibc_version("GLIBC_2.100")
    assert glibc_version("GLIBC_PRIVATE") > OLDEST_GLIBC


def test_what_is_no_elf_file_is_an_error(tmp_path):
    path = tmp_path / "text"
    path.write_text("text")
    with pytest.raises(TesseraError, match=str(path)):
        needed(path)
