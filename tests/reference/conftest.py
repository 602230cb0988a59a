"""A checkout of its own for downloads, zenodo.org on this machine, and reference data made by hand."""

from __future__ import annotations

import random
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from tessera.core.reference.records import ArchivedRecord, RecordTable

from .server import Behaviour, serving

BODY = random.Random(7).randbytes(700_000)

#: Figure 6 and its kin: workload -> configuration -> runtime, walk, non-walk cycles.
CYCLES = {
    "Alpha": {"LP-LD": (1000, 400, 600), "RPI-LD": (1500, 900, 600), "TLP-LD": (800, 100, 700)},
    "Beta": {"LP-LD": (2000, 500, 1500), "RPI-LD": (6400, 4900, 1500), "TLP-LD": (1600, 200, 1400)},
}


@pytest.fixture(autouse=True)
def checkout(tmp_path, monkeypatch):
    """A temporary checkout with the real reference-results/."""
    root = Path(__file__).resolve().parents[2]
    home = tmp_path / "checkout"
    shutil.copytree(root / "reference-results", home / "reference-results")
    monkeypatch.setenv("TESSERA_ROOT", str(home))
    for variable in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.upper(), raising=False)
    return home


@pytest.fixture
def zenodo(monkeypatch):
    """``with zenodo(behaviour):`` sends requests for zenodo.org to a local server, with None to nowhere."""
    import httpx2  # zenodo-get's, for the metadata
    from requests.adapters import HTTPAdapter  # ours, for the files

    real, real_send = httpx2.HTTPTransport.handle_request, HTTPAdapter.send

    @contextmanager
    def redirected(behaviour: Behaviour | None):
        def redirect(port: int):
            def handle_request(self, request):
                assert (request.url.scheme, request.url.host) == ("https", "zenodo.org")
                asked = request.url
                request.url = asked.copy_with(scheme="http", host="127.0.0.1", port=port)
                try:
                    return real(self, request)
                finally:
                    request.url = asked

            def send(self, request, **options):
                assert request.url.startswith("https://zenodo.org/")
                request.url = request.url.replace("https://zenodo.org", f"http://127.0.0.1:{port}")
                return real_send(self, request, **options)

            monkeypatch.setattr(httpx2.HTTPTransport, "handle_request", handle_request)
            monkeypatch.setattr(HTTPAdapter, "send", send)

        if behaviour is None:
            with serving(Behaviour({})) as port:
                pass  # closed again: nothing listens there
            redirect(port)
            yield
            return
        with serving(behaviour) as port:
            redirect(port)
            yield

    return redirected


@pytest.fixture
def record():
    """Makes a record without tables."""

    def make(
        name: str = "sample", tables: tuple[RecordTable, ...] = (), files: dict | None = None
    ) -> ArchivedRecord:
        return ArchivedRecord(
            name=name,
            paper="mitosis-asplos20",
            doi="10.5281/zenodo.123",
            record="123",
            named_in="an appendix",
            holds="a sample",
            by_default=True,
            files=files or {},
            reference_folder="evaluation/reference",
            tables=tables,
        )

    return make


def cycles_text(cycles=CYCLES, header: str = "Config", separator: str = "") -> str:
    """A file of layout ``cycles``."""
    lines = ["\t".join(["Workload", header, "Runtime Cycles", "Walk Cycles", "Non-Walk Cycles"])]
    for workload, configurations in cycles.items():
        lines += ["\t".join([workload, name, *map(str, row)]) for name, row in configurations.items()]
        lines.append(separator)
    return "\n".join(lines) + "\n"


def operations_text(rows: dict[tuple[str, int], tuple[int, int]]) -> str:
    """A file of layout ``operations``: (label, pages) -> average cycles off and on; a block for each."""
    head = "label npages pagesize mitosis min avg 99th max min/nmages avg/npages 99th/page max/npages".split()
    lines = []
    for (label, pages), averages in rows.items():
        for mitosis, average in enumerate(averages):
            numbers = [average - 1, average, average + 2, average + 9]
            cells = [label, pages, 4096, mitosis, *numbers, *(number // pages for number in numbers)]
            lines += ["", "\t".join(head), "\t".join(map(str, cells))]
    return "\n".join(lines) + "\n"


def write(folder: Path, **texts: str) -> None:
    """``figure6="..."`` becomes ``figure6.csv``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
