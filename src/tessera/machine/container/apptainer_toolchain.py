"""Engine apptainer: programs run in the image's SIF file, without a daemon and without root."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import weakref
from pathlib import Path

from tessera.machine.container import engine
from tessera.machine.container.apptainer_command import apptainer_exec, clean_environment
from tessera.machine.container.interface import Toolchain
from tessera.machine.container.process import ApptainerProcess
from tessera.machine.container.sif import sif_path, sif_record


class ApptainerToolchain(Toolchain):
    """The image ``tag`` as a SIF file."""

    def __init__(self, tag: str):
        self.tag = tag

    def popen(self, argv, paths=(), env=None, *, options=None, **keywords):
        workdir = Path(tempfile.mkdtemp(prefix="tessera-apptainer-"))
        try:
            command = apptainer_exec(
                sif_path(self.tag), argv, workdir=workdir, paths=paths, env=env, options=options
            )
            keywords.setdefault("stdin", subprocess.DEVNULL)
            process = ApptainerProcess(command, env=clean_environment(), **keywords)
        except BaseException:
            shutil.rmtree(workdir, ignore_errors=True)
            raise
        # When nobody needs the process any more, or this program ends.
        weakref.finalize(process, shutil.rmtree, workdir, ignore_errors=True)
        return process

    def describe(self) -> dict[str, str]:
        return {
            "engine": engine.APPTAINER,
            "image": self.tag,
            "sif_sha256": sif_record(self.tag)["sif_sha256"],
            "engine_version": engine.require_apptainer(),
        }
