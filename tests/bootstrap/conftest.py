"""A kernel of the tests' own, and a checkout in which ``./run`` does nothing but say what it would start."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tessera.core.units import PAGE_2MB


@dataclass
class FakeKernel:
    """``total`` and ``used`` pages per size in bytes; ``limit`` is where memory ends."""

    total: dict[int, int] = field(default_factory=lambda: {PAGE_2MB: 0})
    used: dict[int, int] = field(default_factory=dict)
    limit: int = 1000
    fail: bool = False

    def huge_pages_total(self, size: int) -> int:
        return self.total[size]

    def huge_pages_free(self, size: int) -> int:
        return self.total[size] - self.used.get(size, 0)

    def set_total(self, size: int, total: int) -> int:
        if self.fail:
            raise OSError("the kernel refuses")
        self.total[size] = max(min(total, self.limit), self.used.get(size, 0))
        return self.total[size]

    def install(self, monkeypatch) -> None:
        """Replace the kernel's functions where reservations use them."""
        from tessera.machine.reserve import reservation

        for name in ("huge_pages_total", "huge_pages_free", "set_total"):
            monkeypatch.setattr(reservation, name, getattr(self, name))
        monkeypatch.setattr(reservation, "lasting_total", self.huge_pages_total)


@pytest.fixture
def kernel(monkeypatch, tmp_path):
    """A fake kernel, records of its own, and permission."""
    fake = FakeKernel()
    fake.install(monkeypatch)
    monkeypatch.setenv("TESSERA_MACHINE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("TESSERA_RESERVE", "1")
    return fake


#: Stand-ins for the steps that change a machine.
_STEPS = (
    "ensure_packages() { :; }\nensure_engine() { :; }\nensure_environment() { :; }\ncompile_lock() { :; }\n"
    "ensure_caches() { :; }\n"
)

#: Stand-ins for what ./run starts: they print their name, arguments and the two variables that matter.
_SAYS = '#!/bin/sh\necho "$(basename "$0") $* | engine=$TESSERA_ENGINE reserve=$TESSERA_RESERVE"\n'


@pytest.fixture
def dry_checkout(root, tmp_path):
    """A folder with the real ``run`` and stand-ins for everything that it would do."""
    (tmp_path / "run").write_text((root / "run").read_text())
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "bootstrap").mkdir()
    for name in ("packages.sh", "engine.sh", "environment.sh", "home.sh"):
        (tmp_path / "bootstrap" / name).write_text(_STEPS)
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("tessera", "snakemake", "python", "jupyter", "ruff", "mypy", "clang-format"):
        (programs / name).write_text(_SAYS)
        (programs / name).chmod(0o755)
    (tmp_path / "artifacts").mkdir()
    (tmp_path / "artifacts" / "one.cpp").touch()
    return tmp_path
