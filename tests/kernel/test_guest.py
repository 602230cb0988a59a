"""A run in the guest, with a program in QEMU's place that speaks for the guest."""

import stat
import subprocess
import sys
import textwrap

import pytest

from tessera.core.errors import TesseraError
from tessera.lab.kernel.guest import GuestProgram, run_in_guest
from tessera.lab.kernel.qemu import EmulatedMachine

#: Listens on the channel that QEMU would, says what the test wants, and waits.
FAKE = """\
#!{python}
import re, socket, sys, time
line = " ".join(sys.argv)
console = re.search(r"file:(\\S+console)", line).group(1)
channel = re.search(r"path=(\\S+channel)", line).group(1)
open(console, "w").write("Linux version\\nKernel panic - not syncing\\n")
server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
server.bind(channel); server.listen()
connection, _ = server.accept()
connection.sendall({said!r})
{then}
"""


class Host:
    """Runs the fake instead of QEMU."""

    def __init__(self, path):
        self.path = path

    def popen(self, argv, paths=(), *, options, **keywords):
        assert argv[0] == "qemu-system-x86_64"
        (folder,) = options.writes
        assert f"path={folder}/channel" in " ".join(argv)
        return subprocess.Popen([str(self.path), *argv[1:]], **keywords)


@pytest.fixture
def boot(tmp_path):
    def start(said, then="time.sleep(60)", timeout_seconds=20, **keywords):
        fake = tmp_path / "qemu"
        fake.write_text(textwrap.dedent(FAKE).format(python=sys.executable, said=said, then=then))
        fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
        for name in ("bzImage", "common.cpio"):
            (tmp_path / name).write_bytes(b"x")
        program = GuestProgram(tmp_path / "bzImage", (tmp_path / "common.cpio",))
        return run_in_guest(
            Host(fake), program, "true", tmp_path / "out", timeout_seconds=timeout_seconds, **keywords
        )

    return start


DONE = b"@ready 6.12.117\n@file stdout\naGVsbG8K\n@end\n@file status\nMwo=\n@end\n@file dmesg\n\n@end\n@bye\n"


def test_files_status_and_version_come_back(boot):
    done = boot(DONE)
    assert (done.status, done.release, done.text("stdout")) == (3, "6.12.117", "hello\n")
    assert "panic" in done.text("console")
    assert done.warnings == []


def test_a_silent_guest_ends_with_its_console(boot):
    with pytest.raises(TesseraError, match="Kernel panic") as caught:
        boot(b"@ready 6.12\n", timeout_seconds=1)
    assert " 1 s" in caught.value.found and caught.value.code == "guest-timeout"


def test_a_machine_that_ends_early_is_reported_as_such(boot):
    with pytest.raises(TesseraError) as caught:
        boot(b"@ready 6.12\n@file a\n", then="sys.exit(0)")
    assert caught.value.code == "guest-stopped"


def test_a_file_outside_the_folder_is_refused(boot, tmp_path):
    with pytest.raises(TesseraError, match="evil"):
        boot(b"@file ../evil\nMwo=\n@end\n@bye\n")
    assert not (tmp_path / "evil").exists()


def test_an_earlier_runs_status_is_not_taken_for_this_ones(boot, tmp_path):
    boot(DONE)
    with pytest.raises(TesseraError):
        boot(b"@ready 6.12\n", then="sys.exit(0)")
    assert not (tmp_path / "out" / "status").exists()


def test_an_unknown_request_is_answered(boot):
    then = "answer = connection.recv(100)\nconnection.sendall(b'@file stdout\\nbm8K\\n@end\\n' "
    then += "if b'unknown' in answer else b'')\nconnection.sendall(b'@file status\\nMAo=\\n@end\\n@bye\\n')\n"
    done = boot(b"@ready 6.12\n@dance now\n", then=then + "time.sleep(60)")
    assert (done.status, done.text("stdout")) == (0, "no\n")


def test_warnings_of_the_kernel_are_found(boot, tmp_path):
    import base64

    log = base64.b64encode(b"fine\nWARNING: CPU: 1 at x\npgtable_replica: difference: level 1\n")
    done = boot(
        b"@file dmesg\n" + log + b"\n@end\n@file status\nMAo=\n@end\n@bye\n",
        machine=EmulatedMachine(nodes=1, cpus=1),
    )
    assert len(done.warnings) == 2
