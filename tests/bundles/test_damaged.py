"""Damaged bundles: an error with a code, or a check that fails; never a traceback."""

import gzip
import io
import random
import stat
import struct
import zipfile

import pytest

from tessera.core.errors import TesseraError
from tessera.measure.bundles import file_format
from tessera.measure.bundles.archive import pack_counts, sums_text, unpack_counts
from tessera.measure.bundles.reader import parse_bundle, read_bundle
from tessera.measure.bundles.verify import verify_bundle, verify_files
from tests.bundles.processor import Plan, made, opened, put

PLAN = Plan(rounds=1, layouts=("growing-0", "growing-8"))


@pytest.fixture(scope="module")
def good():
    return made(PLAN).files


def code_of(files):
    with pytest.raises(TesseraError) as error:
        parse_bundle("made", files)
    done = verify_files("made", files | {file_format.SUMS_FILE: sums_text(files).encode()})
    assert [check.name for check in done.checks if not check.passed] == ["readable"]
    return error.value.code


def counts_of(good):
    return unpack_counts(good[file_format.PACKED_FILE])


@pytest.mark.parametrize("name", file_format.SEALED_FILES)
def test_a_file_is_missing(good, name):
    files = {other: data for other, data in good.items() if other != name}
    with pytest.raises(TesseraError) as error:
        parse_bundle("made", files)
    assert error.value.code in ("bundle-file-missing", "bundle-file-unknown")
    assert not verify_files("made", files).passed


@pytest.mark.parametrize("name", ["notes.txt", "layouts/x.csv", "layouts/gups-16gb/a b.csv", ".hidden"])
def test_a_file_that_no_bundle_has(good, name):
    assert code_of(good | {name: b"x\n"}) == "bundle-file-unknown"


def test_packed_counts(good):
    data, flat = good[file_format.PACKED_FILE], counts_of(good)
    named = io.BytesIO()
    with gzip.GzipFile("alice.csv", "wb", fileobj=named, mtime=0) as stream:
        stream.write(flat)
    for wrong in (data[:-9], data[:30], b"", b"run,event\n", data + b"x", data + data, named.getvalue()):
        assert code_of(good | {file_format.PACKED_FILE: wrong}) == "bundle-gzip"


def test_a_small_file_that_unpacks_to_a_huge_one(good, monkeypatch):
    zeros = pack_counts(bytes(4 << 20))
    assert code_of(good | {file_format.PACKED_FILE: zeros}) == "bundle-size"  # by its ratio
    monkeypatch.setattr(file_format, "MOST_RATIO", 2000)
    monkeypatch.setattr(file_format, "MOST_UNPACKED_BYTES", 1 << 20)
    assert code_of(good | {file_format.PACKED_FILE: zeros}) == "bundle-size"


@pytest.mark.parametrize("change, code", [
    ((b"run,event", b"run,name"), "bundle-header"),
    ((b",0,0\n", b",0\n"), "bundle-row"),
    ((b",0,0\n", b",0,NaN\n"), "bundle-value"),
    ((b",0,0\n", b",0,-1\n"), "bundle-value"),
    ((b",0,0\n", b",0,1e9\n"), "bundle-value"),
    ((b",0,0\n", b",0,007\n"), "bundle-value"),
    ((b",0,0\n", b",0,9007199254740992\n"), "bundle-value"),
    ((b",0,0\n", b",0," + b"9" * 5000 + b"\n"), "bundle-value"),
    ((b",0,0\n", b",0,\xff\n"), "bundle-csv"),
    ((b",0,0\n", b',0,"0\n'), "bundle-csv"),
    ((b"region_ns", b"region_us"), "bundle-link"),
])  # fmt: skip
def test_counts(good, change, code):
    flat = counts_of(good)
    wrong = flat.replace(*change, 1)
    assert wrong != flat
    assert code_of(good | {file_format.PACKED_FILE: pack_counts(wrong)}) == code


def test_counts_that_are_cut_off_or_of_another_run(good):
    flat = counts_of(good)
    assert code_of(good | {file_format.PACKED_FILE: pack_counts(flat[:-4])}) in (
        "bundle-cut-off",
        "bundle-row",
    )
    assert (
        code_of(good | {file_format.PACKED_FILE: pack_counts(flat + b"99,region_ns,1,0,0\n")})
        == "bundle-link"
    )
    assert code_of(good | {file_format.PACKED_FILE: pack_counts(b"")}) == "bundle-header"


def test_runs(good):
    lines = good[file_format.RUNS_FILE].splitlines(keepends=True)
    assert code_of(good | {file_format.RUNS_FILE: b"".join([*lines, lines[1]])}) == "bundle-twice"
    again = lines[1].split(b",", 1)[1]
    assert code_of(good | {file_format.RUNS_FILE: b"".join([*lines, b"99," + again])}) == "bundle-twice"
    assert (
        code_of(good | {file_format.RUNS_FILE: good[file_format.RUNS_FILE].replace(b",ok,", b",fine,", 1)})
        == "bundle-value"
    )
    assert (
        code_of(good | {file_format.RUNS_FILE: good[file_format.RUNS_FILE].replace(b",ok,", b",failed,", 1)})
        == "bundle-link"
    )
    assert (
        code_of(good | {file_format.RUNS_FILE: good[file_format.RUNS_FILE].replace(b",ok,,", b",ok,x,", 1)})
        == "bundle-link"
    )
    assert (
        code_of(
            good | {file_format.RUNS_FILE: good[file_format.RUNS_FILE].replace(b"gups-16gb", b"redis", 1)}
        )
        == "bundle-link"
    )
    assert (
        code_of(
            good | {file_format.RUNS_FILE: good[file_format.RUNS_FILE].replace(b"growing-8", b"growing-7")}
        )
        == "bundle-link"
    )


@pytest.mark.parametrize("change, code", [
    ((b'"schema": 1', b'"schema": 2'), "bundle-value"),
    ((b'"schema": 1', b'"schema": NaN'), "bundle-value"),
    ((b'"schema": 1', b'"schema": 1.5'), "bundle-value"),
    ((b'"schema": 1', b'"schema": 1, "schema": 1'), "bundle-key"),
    ((b'"schema": 1', b'"schema": 1, "host": "x"'), "bundle-key"),
    ((b'"schema": 1,', b""), "bundle-key"),
    ((b'"schema": 1', b'"schema": ' + b"9" * 6000), "bundle-value"),
    ((b'"schema": 1', b'"schema": ' + b"[" * 100_000), "bundle-json"),
    ((b'"schema": 1', b'"schema": "\xff"'), "bundle-json"),
    ((b'"rehearsal": false', b'"rehearsal": 0'), "bundle-value"),
    ((b'"mode": "uk"', b'"mode": "k"'), "bundle-value"),
    ((b"{", b"[{"), "bundle-json"),
])  # fmt: skip
def test_the_head(good, change, code):
    wrong = good[file_format.ABOUT_FILE].replace(*change, 1)
    assert wrong != good[file_format.ABOUT_FILE]
    assert code_of(good | {file_format.ABOUT_FILE: wrong}) == code


def test_other_files(good):
    layout = file_format.layout_file("gups-16gb", "growing-8")
    assert code_of(good | {layout: good[layout].replace(b"mmap", b"heap")}) == "bundle-layout"
    assert code_of(good | {layout: good[layout].replace(b"2097152,0", b"2MB,0")}) == "bundle-layout"
    assert code_of(good | {layout: b"\xff"}) == "bundle-layout"
    assert code_of(good | {file_format.layout_file("gups-16gb", "4kb"): good[layout]}) == "bundle-layout"
    assert code_of(good | {file_format.layout_file("gups-16gb", "1gb"): good[layout]}) == "bundle-link"
    assert code_of(good | {file_format.MACHINE_FILE: b"[]"}) == "bundle-value"
    assert code_of(good | {file_format.CELLS_FILE: b"\xff"}) == "bundle-text"
    assert code_of(good | {file_format.WORKLOADS_FILE: b"{}"}) == "bundle-link"


def test_sums(good):
    def reasons(files):
        (check,) = [check for check in verify_files("made", files).checks if not check.passed][:1]
        assert check.name in ("sums", "readable")
        return check.reasons

    text = good[file_format.SUMS_FILE]
    lines = text.splitlines(keepends=True)
    changed = good | {file_format.CELLS_FILE: good[file_format.CELLS_FILE] + b"\n"}
    assert any(file_format.CELLS_FILE in reason for reason in reasons(changed))
    assert any(
        lines[0].split()[1].decode() in r
        for r in reasons(good | {file_format.SUMS_FILE: b"".join(lines[1:])})
    )
    for wrong in (text + lines[0], text[:-3], b"\xff", text.replace(b"  ", b" "), b"x  y\n" + text):
        assert reasons(good | {file_format.SUMS_FILE: wrong})


def zipped(path, entries):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return path


def test_a_zip_file_is_read_with_or_without_a_folder(good, tmp_path):
    for prefix in ("", "my-bundle/"):
        path = zipped(tmp_path / "b.zip", [(prefix + name, data) for name, data in good.items()])
        assert verify_bundle(path).passed and read_bundle(path).cells == good[file_format.CELLS_FILE].decode()


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil", "..\\evil"])
def test_a_zip_file_with_names_that_lead_out(good, tmp_path, name):
    path = zipped(tmp_path / "b.zip", [*good.items(), (name, b"x")])
    with pytest.raises(TesseraError) as error:
        read_bundle(path)
    assert error.value.code == "bundle-file-name"
    assert not verify_bundle(path).passed
    assert [p.name for p in tmp_path.rglob("*")] == ["b.zip"]


def test_a_zip_file_with_a_link_or_a_name_twice(good, tmp_path):
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    for entry in (link, "bundle.json"):
        with pytest.warns() if entry == "bundle.json" else io.StringIO():
            path = zipped(tmp_path / "b.zip", [*good.items(), (entry, b"/etc/passwd")])
        with pytest.raises(TesseraError) as error:
            read_bundle(path)
        assert error.value.code in ("bundle-file-kind", "bundle-file-name")


def test_a_zip_file_that_is_damaged_or_none(good, tmp_path):
    path = zipped(tmp_path / "b.zip", list(good.items()))
    data = path.read_bytes()
    for wrong in (data[: len(data) // 2], b"", b"PK", data[:200] + bytes(50) + data[250:]):
        path.write_bytes(wrong)
        assert not verify_bundle(path).passed
    with pytest.raises(TesseraError) as error:
        verify_bundle(tmp_path / "nothing")
    assert error.value.code == "bundle-absent"


def refused(path):
    with pytest.raises(TesseraError) as error:
        read_bundle(path)
    assert not verify_bundle(path).passed
    return error.value.code


def test_a_zip_file_with_too_many_entries_is_refused_before_they_are_listed(good, tmp_path, monkeypatch):
    entries = [*good.items(), *((f"folder-{at}/", b"") for at in range(file_format.MOST_ENTRIES))]
    path = zipped(tmp_path / "b.zip", entries)
    with monkeypatch.context() as patched:
        patched.setattr(zipfile, "ZipFile", None)
        assert refused(path) == "bundle-size"
    data = path.read_bytes()
    at = data.rfind(b"PK\x05\x06")
    path.write_bytes(data[: at + 8] + b"\1\0\1\0" + data[at + 12 :])  # it says that there is one
    assert refused(path) == "bundle-size"
    whole = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 10**6, 10**6, 46 * 10**6, 0)
    path.write_bytes(data[:at] + whole + b"PK\x06\x07" + bytes(12) + b"\1\0\0\0" + data[at:])
    assert refused(path) == "bundle-size"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries[: file_format.MOST_ENTRIES]:
            archive.writestr(name, content)
        archive.comment = b"a comment"
    assert verify_bundle(path).passed  # as many as there may be


def test_a_zip_file_that_unpacks_to_a_huge_one(good, tmp_path):
    for name, size in (
        (file_format.RUNS_FILE, 8 << 20),
        (file_format.RUNS_FILE, 33 << 20),
        (file_format.ABOUT_FILE, 2 << 20),
    ):
        with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for other, data in (good | {name: bytes(size)}).items():
                archive.writestr(f"top/{other}", data)
        assert refused(tmp_path / "b.zip") == "bundle-size"


def test_files_that_are_larger_than_any_of_a_bundle(good, tmp_path):
    put(good, tmp_path / "b")
    layout = file_format.layout_file("gups-16gb", "growing-8")
    for name in (
        file_format.ABOUT_FILE,
        file_format.RUNS_FILE,
        file_format.PACKED_FILE,
        file_format.CELLS_FILE,
        file_format.SUMS_FILE,
        layout,
    ):
        size = file_format.MOST_FILE_BYTES.get(name, file_format.MOST_SMALL_BYTES)
        with (tmp_path / "b" / name).open("r+b") as stream:
            stream.truncate(size + 1)  # takes no space
        assert refused(tmp_path / "b") == "bundle-size"
        (tmp_path / "b" / name).write_bytes(good[name])
    with (tmp_path / "b.zip").open("wb") as stream:
        stream.truncate(file_format.MOST_ZIP_BYTES + 1)
    assert refused(tmp_path / "b.zip") == "bundle-size"
    for at in range(9):
        (tmp_path / "b" / file_format.LAYOUTS_FOLDER / f"{at}.csv").write_bytes(
            b"x" * file_format.MOST_SMALL_BYTES
        )
    assert refused(tmp_path / "b") == "bundle-size"


def test_folders_with_too_many_entries_or_levels(good, tmp_path):
    put(good, tmp_path / "b")
    (tmp_path / "b" / "layouts" / "gups-16gb" / "deeper").mkdir()
    assert refused(tmp_path / "b") == "bundle-file-unknown"
    for at in range(file_format.MOST_ENTRIES):
        (tmp_path / "b" / f"folder-{at}").mkdir()
    assert refused(tmp_path / "b") in ("bundle-size", "bundle-file-unknown")
    (tmp_path / "b" / "layouts" / "gups-16gb" / "deeper").rmdir()
    assert refused(tmp_path / "b") == "bundle-size"


def test_a_folder_with_a_link(good, tmp_path):
    put(good, tmp_path / "b")
    (tmp_path / "b" / "link").symlink_to("/etc/hostname")
    with pytest.raises(TesseraError) as error:
        read_bundle(tmp_path / "b")
    assert error.value.code == "bundle-file-kind"


def test_a_folder_that_is_not_sealed_is_read_but_not_verified(tmp_path):
    put(opened(PLAN).files, tmp_path)
    assert len(read_bundle(tmp_path).runs) == 2
    assert not verify_bundle(tmp_path).passed


def test_random_bytes(good):
    """300 bundles with some bytes of one file replaced, inserted or removed, sums written again."""
    rng = random.Random(7)
    base = verify_files("made", good)
    for _ in range(300):
        name = rng.choice(sorted(good))
        flat = counts_of(good) if name == file_format.PACKED_FILE and rng.random() < 0.8 else good[name]
        data = bytearray(flat)
        for _ in range(rng.randint(1, 4)):
            at, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
            end = min(end, at + rng.randint(0, 6))
            data[at:end] = rng.randbytes(rng.randint(0, 5))
        new = bytes(data)
        files = good | {name: pack_counts(new) if flat is not good[name] else new}
        if name != file_format.SUMS_FILE:
            files[file_format.SUMS_FILE] = sums_text(files).encode()
        done = verify_files("made", files)  # no exception
        assert done.checks and base.passed
