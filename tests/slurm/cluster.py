"""A Slurm cluster of two nodes on this machine, with daemons, ports, key and folder of its own.

Both nodes are this machine under two names, so a test can drain one of them. The memory controller of cgroup
v1 limits the memory of jobs where this system has it (CgroupPlugin=cgroup/v1). Elsewhere nothing limits it
(``limits_memory``).
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

PROGRAMS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client"}
SEARCHED = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
CGROUPS = Path("/sys/fs/cgroup")
START_SECONDS = 120
PR_SET_PDEATHSIG = 1  # linux/prctl.h
NODE_MEMORY_MB = 6000
NODE_CPUS = 4  # more than this machine may have: jobs of tests mostly wait


def missing() -> str:
    """Why no cluster can start here; empty if one can."""
    absent = [package for name, package in PROGRAMS.items() if shutil.which(name, path=SEARCHED) is None]
    if absent:
        return f"Slurm is not installed: apt-get install {' '.join(absent)}"
    if os.geteuid() != 0:
        return "slurmd needs root"
    return ""


class Cluster:
    """``with Cluster() as cluster``: ``env`` are the variables that Slurm's commands need, ``programs`` comes
    first in the path of runs."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-"))  # short: names of sockets have a limit
        self.folder.chmod(0o755)  # munged asks that all can enter the folder of its socket
        self.nodes = [f"n{os.getpid()}a", f"n{os.getpid()}b"]
        self.programs = self.folder / "bin"
        self.env = {"SLURM_CONF": str(self.folder / "slurm.conf")}
        self.limits_memory = (CGROUPS / "memory" / "memory.limit_in_bytes").exists()
        self._stack = ExitStack()

    def __enter__(self) -> Cluster:
        try:
            self._configure()
            self._start("munged", "--foreground", "--key-file", self.folder / "key", *self._munge_files())
            self._wait(lambda: (self.folder / "munge.sock").exists(), "munged")
            self._start("slurmctld", "-D", "-c")
            for node in self.nodes:
                self._start("slurmd", "-D", "-N", node)
            self._wait(lambda: self.run("sinfo", "-h", "-t", "idle", "-o", "%D") == "2", "two idle nodes")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        with suppress(AssertionError, subprocess.SubprocessError):
            self.run("scancel", "--state=RUNNING", "--user=root")
        self._stack.close()  # the last daemon that started ends first
        for node in self.nodes:
            for folder in sorted(CGROUPS.glob(f"*/slurm_{node}/**/"), reverse=True):
                with suppress(OSError):
                    folder.rmdir()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words: str) -> str:
        """Output of a command of Slurm."""
        done = subprocess.run(words, env=os.environ | self.env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
        return done.stdout.strip()

    def states(self) -> dict[str, str]:
        """State of every job that Slurm still knows, by its number."""
        lines = self.run("squeue", "--states=all", "--noheader", "--format=%i|%T").splitlines()
        return dict(line.split("|") for line in lines)

    def _configure(self) -> None:
        (self.folder / "key").write_bytes(os.urandom(1024))
        (self.folder / "key").chmod(0o400)
        self._wrap_srun()
        (self.folder / "slurm.conf").write_text(self._conf())
        (self.folder / "cgroup.conf").write_text(
            "CgroupPlugin=cgroup/v1\nConstrainRAMSpace=yes\nAllowedRAMSpace=100\n"
        )

    def _wrap_srun(self) -> None:
        """The plugin starts srun without SLURM_CONF, so it would look for /etc/slurm/slurm.conf."""
        wrapper = self.folder / "bin" / "srun"
        wrapper.parent.mkdir()
        real = shutil.which("srun", path=SEARCHED)
        wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {real} "$@"\n')
        wrapper.chmod(0o755)

    def _conf(self) -> str:
        here, ports = self.folder, _free_ports(2 + len(self.nodes))
        track = "cgroup" if self.limits_memory else "linuxproc"
        task = "cgroup" if self.limits_memory else "none"
        host = socket.gethostname().split(".")[0]
        nodes = "".join(
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={NODE_CPUS}"
            f" RealMemory={NODE_MEMORY_MB}\n"
            for node, port in zip(self.nodes, ports[2:], strict=True)
        )
        return f"""ClusterName=tessera
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={here}/munge.sock
StateSaveLocation={here}/state
SlurmdSpoolDir={here}/spool-%n
SlurmctldPidFile={here}/slurmctld.pid
SlurmdPidFile={here}/slurmd-%n.pid
SlurmctldLogFile={here}/slurmctld.log
SlurmdLogFile={here}/slurmd-%n.log
ProctrackType=proctrack/{track}
TaskPlugin=task/{task}
JobAcctGatherType=jobacct_gather/linux
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SchedulerParameters=bf_interval=1,sched_min_interval=0
MinJobAge=600
KillWait=5
ReturnToService=2
MpiDefault=none
{nodes}PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

    def _munge_files(self) -> list[str]:
        names = {"socket": "sock", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        return [f"--{option}={self.folder}/munge.{suffix}" for option, suffix in names.items()]

    def _start(self, name: str, *words) -> None:
        """A daemon in the foreground, so that it is ours to end."""
        path = shutil.which(name, path=SEARCHED)
        with (self.folder / f"{name}.out").open("ab") as output:
            process = subprocess.Popen(
                [path, *map(str, words)], env=os.environ | self.env, stdin=subprocess.DEVNULL,
                stdout=output, stderr=output, start_new_session=True, preexec_fn=_end_with_parent,
            )  # fmt: skip
        self._stack.callback(_end, process)

    def _wait(self, ready, what: str) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            with suppress(AssertionError, subprocess.SubprocessError):
                if ready():
                    return
            time.sleep(0.3)
        logs = [f"{path.name}: {path.read_text()[-500:]}" for path in self.folder.glob("*.[lo][ou][gt]")]
        raise AssertionError(f"{what}: not there after {START_SECONDS} s\n" + "\n".join(logs))


def _end_with_parent() -> None:
    """In a new daemon: end when the tests are killed, even by SIGKILL."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
