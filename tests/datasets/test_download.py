"""Downloads from a local server: whole, resumed, refused, wrong, and onto a full disk."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import socket

import pytest

from tessera.core import downloads
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.record import datasets

from .server import FILE, of_file, serving

FAST = {"attempts": 3, "first_pause_s": 0.001}


def cached(checkout):
    return {path.name for path in (checkout / "datasets" / "cache" / "graph").iterdir()}


def test_a_download_is_checked_named_and_recorded(checkout, dataset, body):
    with serving(of_file(body)) as url:
        shown = []
        record = datasets.fetch_dataset(dataset(url), progress=lambda *now: shown.append(now), **FAST)
    assert (record["bytes"], record["verdict"]) == (3_000_000, "verified")
    assert (datasets.cache_folder(dataset(url)) / "graph.bin").read_bytes() == body
    assert cached(checkout) == {"graph.bin", "graph.bin.json"}
    assert shown[-1] == (3_000_000, 3_000_000)
    assert [done for done, _ in shown] == sorted(done for done, _ in shown)


def test_what_is_here_is_not_fetched_again(dataset, body):
    with serving(of_file(body)) as url:
        datasets.fetch_dataset(dataset(url), **FAST)
    datasets.fetch_dataset(dataset(url), **FAST)  # the server is gone


def test_an_interrupted_download_goes_on_where_it_stopped(dataset, body):
    how = of_file(body, cut_after=[1_000_000, 500_000])
    with serving(how) as url:
        assert datasets.fetch_dataset(dataset(url), **FAST)["verdict"] == "verified"
    assert how.contents() == [(200, ""), (206, "bytes=1000000-"), (206, "bytes=1500000-")]


def test_it_goes_on_in_another_process(checkout, dataset, body):
    how = of_file(body, cut_after=[1_000_000])
    with serving(how) as url:
        with pytest.raises(TesseraError) as error:
            datasets.fetch_dataset(dataset(url), attempts=1)
        assert "; 1000000 bytes" in error.value.found and error.value.code == "download-interrupted"
        assert datasets.state(dataset(url)) == datasets.DatasetState("partial", 1_000_000)
        datasets.fetch_dataset(dataset(url), **FAST)
    assert how.contents()[1] == (206, "bytes=1000000-")


def test_a_server_without_ranges_starts_again(dataset, body):
    how = of_file(body, cut_after=[1_000_000], ranges=False)
    with serving(how) as url:
        assert datasets.fetch_dataset(dataset(url), **FAST)["bytes"] == 3_000_000
    assert [status for status, _ in how.contents()] == [200, 200]


def test_a_file_that_changed_meanwhile_starts_again(dataset, body):
    how = of_file(body[::-1], cut_after=[1_000_000])
    with serving(how) as url:
        with pytest.raises(TesseraError):
            datasets.fetch_dataset(dataset(url), attempts=1)
        how.files[FILE], how.tag = body, '"two"'
        assert datasets.fetch_dataset(dataset(url), **FAST)["verdict"] == "verified"
    assert how.contents()[1][0] == 200


def test_a_part_that_is_too_long_starts_again(dataset, body):
    how = of_file(body)
    with serving(how) as url:
        part = datasets.cache_folder(dataset(url)) / "graph.bin.part"
        part.parent.mkdir(parents=True)
        part.write_bytes(body + b"x")
        part.with_name("graph.bin.part.tag").write_text('"one"')
        assert datasets.fetch_dataset(dataset(url), **FAST)["verdict"] == "verified"
    assert [status for status, _ in how.contents()] == [416, 200]


def test_a_busy_server_is_asked_again(dataset, body):
    how = of_file(body, busy=2, busy_status=503)
    with serving(how) as url:
        datasets.fetch_dataset(dataset(url), **FAST)
    assert [status for status, _ in how.contents()] == [503, 503, 200]


def test_a_server_that_stays_busy_is_an_error(dataset, body):
    how = of_file(body, busy=99, busy_status=503)
    with serving(how) as url, pytest.raises(TesseraError, match="3 attempts.*503") as error:
        datasets.fetch_dataset(dataset(url), **FAST)
    assert error.value.code == "download-interrupted"
    assert len(how.requests) == 3


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_refusal_is_final(dataset, body, status):
    how = of_file(body, content_status=status)
    with serving(how) as url, pytest.raises(TesseraError, match=f"{status}") as error:
        datasets.fetch_dataset(dataset(url), **FAST)
    assert len(how.requests) == 1 and error.value.code == "download-refused"
    assert "manifest.csv" in error.value.remedy


def test_a_wrong_checksum_puts_the_file_aside(checkout, dataset, body):
    with serving(of_file(body)) as url, pytest.raises(TesseraError, match="0" * 64) as error:
        datasets.fetch_dataset(dataset(url, sha256="0" * 64), **FAST)
    aside = f"graph.bin.wrong-{hashlib.sha256(body).hexdigest()[:8]}"
    assert cached(checkout) == {aside}
    assert aside in error.value.found
    assert (error.value.exit_code, error.value.code) == (EXIT_FAILED, "dataset-wrong")


def test_a_file_of_another_size_is_put_aside(checkout, dataset, body):
    with serving(of_file(body)) as url, pytest.raises(TesseraError, match="3000000.*2999999") as error:
        datasets.fetch_dataset(dataset(url, size=2_999_999), **FAST)
    assert error.value.code == "dataset-wrong"
    assert "graph.bin" not in cached(checkout)


def test_an_error_page_in_place_of_an_archive_is_put_aside(dataset):
    how = of_file(b"<html>log in</html>", "graph.tar.gz")
    with serving(how) as url, pytest.raises(TesseraError, match="<html>") as error:
        datasets.fetch_dataset(dataset(url, size=None, sha256=""), **FAST)
    assert error.value.code == "dataset-wrong"


def test_without_a_published_checksum_the_verdict_says_so(dataset, body):
    with serving(of_file(body)) as url:
        record = datasets.fetch_dataset(dataset(url, size=None, sha256=""), **FAST)
    assert record["verdict"] == "unverified"
    assert record["sha256"] == hashlib.sha256(body).hexdigest()


def test_no_network_names_the_synthetic_input(dataset):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(TesseraError) as error:
        datasets.fetch_dataset(dataset(f"http://127.0.0.1:{port}/graph.bin"), **FAST)
    assert "synthetic" in error.value.remedy


def test_a_disk_that_is_too_small_is_found_before_the_first_byte(dataset, body, monkeypatch):
    usage = shutil.disk_usage("/")._replace(free=downloads.SPARE_BYTES + 2_999_999)
    monkeypatch.setattr(downloads.shutil, "disk_usage", lambda path: usage)
    with serving(of_file(body)) as url, pytest.raises(TesseraError, match="3000000 bytes") as error:
        datasets.fetch_dataset(dataset(url), **FAST)
    assert error.value.code == "disk-full"
    assert datasets.state(dataset(url)).size_bytes == 0


def test_a_disk_that_fills_up_is_an_error_that_keeps_the_part(dataset, body, monkeypatch):
    """/dev/full refuses every write with ENOSPC."""
    with serving(of_file(body)) as url:
        part = datasets.part_of(dataset(url))
        part.parent.mkdir(parents=True)
        part.symlink_to("/dev/full")
        with pytest.raises(TesseraError, match=os.strerror(errno.ENOSPC)) as error:
            datasets.fetch_dataset(dataset(url), **FAST)
    assert error.value.code == "disk-full" and part.is_symlink()
