"""What identifies a person or a machine is taken out of every text that is published, and facts stay."""

from __future__ import annotations

import csv
import io
import json
import re
import socket
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tessera.core import private_texts
from tessera.core.errors import TesseraError
from tessera.core.private_texts import HOST, USER, Scrubber, names_of_this_machine
from tessera.machine.container.image_inputs import BaseArguments
from tessera.measure.bundles import texts
from tessera.measure.counted import setting
from tessera.report import provenance
from tessera.report.package import make
from tests.package.conftest import checkout, fill, results

__all__ = ["checkout", "results"]

ROOT = Path(__file__).resolve().parents[2]

PRIVATE = {
    "/lustre/proj7/alice": "[path]",
    "open /gpfs/u/bob/run.csv failed": "open [path]/run.csv failed",
    "open:/opt/tool": "open:[path]",
    "see /users/bob, and /root": "see [path], and [path]",
    "in '/project/x1/data.csv'": "in '[path]/data.csv'",
    "tab=/export/home/bob": "tab=[path]",
    "/home/jane.doe": "[path]",
    "~bob/x.log": "[path]/x.log",
    "at ~/thesis/x.csv, line 3": "at [path]/x.csv, line 3",
    "owner ~bob": "owner [path]",
    "cc -I/lustre/include/bob -L/gpfs/lib/bob": "cc -I[path] -L[path]",
    "file:///scratch/bob/a.json": "file://[path]/a.json",
    "PATH=/usr/bin:/opt/bob/tools:/bin": "PATH=/usr/bin:[path]:/bin",
    "/opt/redis/bin/redis-server --port 7": "[path]/redis-server --port 7",
    "/usr/../nfs/bob": "[path]",
    "/usr/people/bob and /dev/shm/bob": "[path] and [path]",
    "//srv/share/bob": "[path]",
    "/home/alice b/x": "[path]",
    "<td>/data/bob</td>": "<td>[path]</td>",
    r'"it said\n/data/bob/x.txt"': r'"it said\n[path]/x.txt"',
    r'"\/data\/bob\/x.txt"': '"[path]/x.txt"',
    "http://alice:secret@mirror.example.org/debian": "http://[secret]@mirror.example.org/debian",
    "git+https://bob@host.example/x": "git+https://[secret]@host.example/x",
    "run --token=abc123 --size 4GB": "run --token=[secret] --size 4GB",
    "run --db-password hunter2": "run --db-password [secret]",
    "API_KEY='a b' ./x": "API_KEY=[secret] ./x",
    'PASSWORD="a b" ./x': "PASSWORD=[secret] ./x",
    r'{"said": "--token=\"abc\" x"}': '{"said": "--token=[secret] x"}',
    'x,"--token=""abc"" x",y': 'x,"--token=[secret] x",y',
    "gups,/opt/tool,ok,1/2": "gups,[path],ok,1/2",
    "http://127.0.0.1:8888/?token=abc&x=1": "http://127.0.0.1:8888/?token=[secret]&x=1",
    "connect to 10.20.30.40:7000": "connect to [ip]:7000",
    "host 192.168.0.17, up": "host [ip], up",
    "8.8.4.4:53": "[ip]:53",
    "from 2001:db8::8a2e:370:7334": "from [ip]",
    "fe80::1%eth0": "[ip]%eth0",
    "::ffff:10.1.2.3": "::ffff:[ip]",
    "eth0 52:54:00:12:34:56": "eth0 [mac]",
    "eth0 52-54-00-ab-34-56": "eth0 [mac]",
    "mail bob.b@example.org.": "mail [mail].",
    "scp bob@node3:/data/x.csv": "scp [mail]:[path]/x.csv",
    "alice, on wonderland7": "[name], on [name]",
    "wonderland7.cs.example.edu is up": "[name] is up",
    "owner=alice; build-alias": "owner=[name]; [name]",
}
FACTS = (
    "/usr/bin/redis-server, /usr/local/bin/x and /usr/lib64/x.so",
    "/sys/kernel/mm/transparent_hugepage/enabled, /proc/<pid>/smaps, /dev/cpu_dma_latency",
    "/proc/&lt;pid&gt;/smaps",
    "#!/bin/sh",
    "/.tessera/checkout/build/workloads/gups --scale 16",
    "/run/events",
    "Linux 6.12.1.2",
    "redis=7.0.15.1, 6.1.0.13-amd64 and 1.2.3",
    "127.0.0.1:6379, 0.0.0.0 and ::1",
    "1.23 at 12:34:56, 2026-11-29T15:43:50+00:00",
    "std::vector<ab::cd>",
    "2MB/1GB pages: 12 / 4; 1/2 and/or",
    "(a-b)/N",
    "results/*/cells.csv and <config>/cells/x.csv",
    "https://example.org/home/x/y and http://deb.debian.org/debian",
    "malice and alicent",
    "~10% of 1:2.3~beta",
    "memcpy@GLIBC_2.14, technion-csl/mosmodel@18be704",
    "tokens=512, key=abc, --tokens 5, a token is",
    '["--token=", "abc"]',
    "http://a.org,bob",
    "Mitigation: usercopy/swapgs barriers and __user pointer sanitization",
    "sha256:9de8669e382fb0983289cb40f8af4c5e",
    "</tmp/> a/tmp/x ./x/y",
    "data:image/png;base64,iVBORw0/abc+/tmp/x==",
    "data:image/jpeg;base64,/9j/4AAQ/tmp",
    "-1 and -n 5",
)
TEXTS = PRIVATE | dict(zip(FACTS, FACTS, strict=True))


@pytest.fixture(autouse=True)
def wonderland(monkeypatch, tmp_path):
    """The machine of alice; whoever asks a name server waits for ever."""
    for name in ("LOGNAME", "USER"):
        monkeypatch.setenv(name, "alice")
    monkeypatch.setenv("HOME", "/home/alice b")
    monkeypatch.setattr(socket, "gethostname", lambda: "wonderland7")
    for name in ("getfqdn", "gethostbyaddr", "gethostbyname", "getaddrinfo", "getnameinfo"):
        monkeypatch.setattr(socket, name, lambda *_, name=name: pytest.fail(f"{name} asks a name server"))
    hosts = tmp_path / "hosts"
    hosts.write_text(
        "127.0.0.1 localhost\n10.0.0.7 elsewhere # wonderland7\n"
        "127.0.1.1 wonderland7.example.org wonderland7 build-alias localhost4 ip6-loopback\n"
    )
    monkeypatch.setattr(private_texts, "HOSTS_FILE", hosts)


def test_names_are_those_of_the_machine_and_of_its_hosts_file():
    assert names_of_this_machine() == {
        "wonderland7.example.org": HOST, "build-alias": HOST, "wonderland7": HOST, "alice": USER,
    }  # fmt: skip
    private_texts.HOSTS_FILE.unlink()
    assert names_of_this_machine() == {"wonderland7": HOST, "alice": USER}


@pytest.mark.parametrize(("text", "wanted"), TEXTS.items())
def test_a_text_through_all_that_publish(text, wanted):
    scrubber = Scrubber.of_this_machine()
    assert scrubber.clean(text) == wanted
    assert scrubber.scrub(wanted) == (wanted, [])  # marks stay
    assert (scrubber.kinds(text) == []) == (text == wanted)
    assert texts.clean(text) == wanted
    assert (list(texts.private_texts([("here", text)])) == []) == (text == wanted)
    assert provenance.scrubber()({"a": [text]}) == {"a": [wanted]}


def test_the_texts_in_a_package(results, tmp_path):
    fill(results, {"models/notes.txt": "\n".join(TEXTS) + "\n"})
    done = make(results, tmp_path / "out.zip")
    with zipfile.ZipFile(done.path) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith("notes.txt"))
        assert archive.read(name).decode().split("\n") == [*TEXTS.values(), ""]
    assert done.scrubbed >= len(PRIVATE)


def test_a_password_of_a_mirror_is_in_no_manifest(monkeypatch):
    arguments = BaseArguments(mirror="http://alice:hunter2@mirror.example.org/debian")
    assert arguments.as_published() == arguments.as_environment() | {
        "DEBIAN_MIRROR": "http://[secret]@mirror.example.org/debian"
    }
    monkeypatch.setattr(
        provenance, "container_engine", lambda: {"images": {"base": arguments.as_environment()}}
    )
    assert "hunter2" not in str(provenance.scrubber()(provenance.container_engine()))


def test_what_is_archived_here_stays():
    """The archived run of the notebooks, its bundle, and bundles of real machines."""
    files = [path for name in ("notebooks/data", "bundles") for path in (ROOT / name).rglob("*")]
    files = [path for path in files if path.suffix in (".csv", ".json", ".md") and path.is_file()]
    assert len(files) > 50
    changed = {path.name: Scrubber().scrub(path.read_text())[1] for path in files}
    assert {name: kinds for name, kinds in changed.items() if kinds} == {}


def test_words_of_marks_and_ordinary_names_are_no_names(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "localhost")
    for name in ("root", "path", "ab", ""):
        monkeypatch.setenv("LOGNAME", name)
        monkeypatch.setenv("USER", name)
        assert not re.search(r"\b(root|path|ab|localhost)\b", " ".join(names_of_this_machine())), name


@pytest.mark.parametrize("arguments", [("--token", "abc"), ("--file", "/data/x"), ("--owner=alice",)])
def test_a_workload_with_private_arguments_is_not_measured(arguments):
    """Words are searched together: a secret may be the word behind its name."""

    def row(*words):
        return SimpleNamespace(workload="x", size=SimpleNamespace(args=words))

    assert setting._arguments(row("--file", "/usr/share/x", "-n", "5")) == (
        "--file",
        "/usr/share/x",
        "-n",
        "5",
    )
    with pytest.raises(TesseraError) as error:
        setting._arguments(row("-n", *arguments))
    assert error.value.code == "workload-unfit"


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(st.sampled_from([*TEXTS, *"/~@:=,\"' x"]), max_size=3).map("".join), min_size=2, max_size=4
    )
)
def test_files_keep_their_form(cells):
    """As many cells in a row, and as many entries in a list, each without private texts."""
    scrubber = Scrubber.of_this_machine()
    stream = io.StringIO()
    csv.writer(stream).writerows([cells, cells[::-1]])
    rows = list(csv.reader(io.StringIO(scrubber.clean(stream.getvalue()), newline="")))
    assert [len(row) for row in rows] == [len(cells)] * 2
    assert len(json.loads(scrubber.clean(json.dumps(cells)))) == len(cells)
    assert list(json.loads(scrubber.clean(json.dumps({"a": cells, "b": 1})))) == ["a", "b"]
