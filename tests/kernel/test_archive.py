"""The archive that the kernel unpacks, read back by an independent program."""

import shutil
import subprocess

import pytest

from tessera.lab.kernel.build_tools import pack_cpio


def test_same_content_gives_same_bytes_whatever_the_order():
    assert pack_cpio({"/a/b": b"1", "/c": b"2"}) == pack_cpio({"/c": b"2", "/a/b": b"1"})


def test_header_of_one_file_by_hand():
    packed = pack_cpio({"/x": b"hello"})
    assert packed[:6] == b"070701"
    assert int(packed[14:22], 16) == 0o100755
    assert int(packed[54:62], 16) == 5
    assert packed[110:112] == b"x\0"
    assert packed[112:117] == b"hello"
    assert len(packed) % 4 == 0 and b"TRAILER!!!" in packed


@pytest.mark.skipif(shutil.which("cpio") is None, reason="cpio is not installed")
def test_cpio_reads_it(tmp_path):
    content = bytes(range(256)) * 33
    packed = pack_cpio({"/bin/tool": content, "/deep/er/file": b""}, {"/bin/link": "tool"})
    subprocess.run(["cpio", "-idm", "--quiet"], input=packed, cwd=tmp_path, check=True)
    assert (tmp_path / "bin/tool").read_bytes() == content
    assert (tmp_path / "deep/er/file").read_bytes() == b""
    assert (tmp_path / "bin/link").read_bytes() == content
    assert (tmp_path / "bin/tool").stat().st_mode & 0o777 == 0o755
