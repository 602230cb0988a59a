"""A row a patch, from kernels that were not built or whose guest is played here."""

import subprocess

from tessera.errors import TesseraError
from tessera.kernel import bisect, image
from tessera.kernel.guest import GuestRun


def play(monkeypatch, tmp_path, unbuilt, guests):
    """Bisect with patches ``unbuilt`` missing and ``guests`` (patch -> status or error) in QEMU's place."""
    for patch in image.patches():
        (tmp_path / patch.stem).mkdir()
        name = "errors" if patch.name in unbuilt else "bzImage"
        (tmp_path / patch.stem / name).write_text("error: no such thing\n")

    def run(tools, program, script, out, timeout_seconds):
        status = guests.get(f"{program.kernel.parent.name}.patch", 0)
        if isinstance(status, TesseraError):
            raise status
        return GuestRun(status, out, "6.12", 5.0)

    monkeypatch.setattr(image, "build_guest", lambda say: tmp_path)
    monkeypatch.setattr(image, "build_series", lambda say, accept_series: tmp_path)
    monkeypatch.setattr(image, "ready", lambda say: None)
    monkeypatch.setattr(bisect, "run", run)
    return bisect.bisect(tmp_path / "out", lambda line: None).set_index("patch")


def test_every_patch_has_its_outcome(monkeypatch, tmp_path):
    names = [patch.name for patch in image.patches()]
    crash = TesseraError("a run in the guest", "its machine ended early", "read its console")
    table = play(monkeypatch, tmp_path, [names[2]], {names[4]: 1, names[5]: crash})
    assert table.outcome[names[2]] == "not built" and "no such thing" in table.found[names[2]]
    assert table.outcome[names[4]] == table.outcome[names[5]] == "failed in the guest"
    assert "ended early" in table.found[names[5]]
    assert (table.drop([names[2], names[4], names[5]]).outcome == "passed").all() and len(table) == len(names)


def test_the_series_script_refuses_without_arguments():
    script = image.kernel_folder() / "build-series.sh"
    done = subprocess.run([script], capture_output=True, text=True)
    assert done.returncode != 0 and "usage: build-series.sh OUT WORK SERIES" in done.stderr
