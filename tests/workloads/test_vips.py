"""The workload vips: its picture, what its output must be, its options, and the program itself."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.record import workloads
from tessera.record.debian_programs.vips import OUTPUT, Picture, read_pixels, turned_picture
from tessera.record.workloads import execution
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.execution import execute
from tessera.record.workloads.kinds import debian, prepare
from tessera.record.workloads.program_run import VIPS, WORKLOADS, Finished

WIDTH, HEIGHT = 100, 80


def row(*args):
    size = Size("s", args, 1 << 20, 64 << 20, 1 << 30)
    return Workload("vips", "vips", "", "", {"s": size}, kind="debian")


def vips_file(path, pixels, origin):
    """vips' own format: 64 bytes (magic, width, height, bands, bits, format; origin at 48), then rows."""
    height, width, bands = pixels.shape
    head = struct.pack("<4s5i", b"\xb6\xa6\xf2\x08", width, height, bands, 8, 0).ljust(48, b"\0")
    path.write_bytes(head + struct.pack("<2i", origin, 0).ljust(16, b"\0") + pixels.tobytes())


def by_hand(picture, width, height):
    """Output pixels from their four neighbours, one at a time; the origin is in column ``width``."""
    source = picture.rows(0, picture.height).astype(float)
    made = np.zeros((height, width, 3), np.uint8)
    for row_ in range(height):
        for column in range(width):
            x, y = row_ / 1.1, (width - column) / 1.1
            left, top = int(x // 1), int(y // 1)
            if not (0 <= left < picture.width - 1 and 0 <= top < picture.height - 1):
                continue
            a, b = x - left, y - top
            value = (source[top, left] * (1 - a) * (1 - b) + source[top, left + 1] * a * (1 - b)
                     + source[top + 1, left] * (1 - a) * b + source[top + 1, left + 1] * a * b)  # fmt: skip
            made[row_, column] = np.round(value)
    return made


@pytest.fixture
def run(tmp_path):
    return prepare(row("--width", str(WIDTH), "--height", str(HEIGHT)), "s", tmp_path)


@pytest.fixture
def good(run, tmp_path):
    """The output as vips would write it: 88 x 110 pixels."""
    pixels = by_hand(Picture(WIDTH, HEIGHT, 1), 88, 110)
    vips_file(tmp_path / OUTPUT, pixels, 88)
    return pixels


def test_the_png_file_holds_the_picture(run, tmp_path):
    """Read by the PNG specification: signature, IHDR, and rows of filter 0 in the IDAT stream."""
    data = (tmp_path / "picture.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, stream, head = 8, b"", b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        stream, head = stream + body * (kind == b"IDAT"), body if kind == b"IHDR" else head
        at += 12 + length
    assert struct.unpack(">IIBBBBB", head) == (WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    rows = np.frombuffer(zlib.decompress(stream), np.uint8).reshape(HEIGHT, 1 + 3 * WIDTH)
    assert not rows[:, 0].any()
    assert (rows[:, 1:].reshape(HEIGHT, WIDTH, 3) == Picture(WIDTH, HEIGHT, 1).rows(0, HEIGHT)).all()


def test_the_picture_repeats_and_has_no_two_equal_rows():
    picture = Picture(WIDTH, HEIGHT, 1)
    assert (picture.rows(10, 20) == picture.rows(0, HEIGHT)[10:20]).all()
    assert len({one.tobytes() for one in picture.rows(0, HEIGHT)}) == HEIGHT
    assert (picture.rows(0, 9) != Picture(WIDTH, HEIGHT, 2).rows(0, 9)).mean() > 0.9


def test_interpolation_of_whole_and_half_steps():
    """With a scale of 2, every second output pixel is a pixel, and those between are means."""
    picture = Picture(64, 64, 1)
    source = picture.rows(0, 64).astype(float)
    values, inside = turned_picture(picture, 2.0, -np.arange(100, 20, -1), np.arange(20, 100))
    at = np.arange(20, 100), np.arange(100, 20, -1)
    assert inside.all()
    for i, row_ in enumerate(at[0]):
        for j, column in enumerate(at[1]):
            x, y = row_ // 2, column // 2
            block = source[y : y + 1 + column % 2, x : x + 1 + row_ % 2]
            assert values[i, j] == pytest.approx(block.mean(axis=(0, 1)))


def test_a_right_output_is_verified(run, good, tmp_path):
    result = run.verify(Finished(0, "", "", tmp_path))
    assert result["verified"] is True and result["pixels"] == 88 * 110
    assert 0.9 * 88 * 110 < result["compared"] < 88 * 110
    assert result["largest_difference"] <= 0.5 + 1e-3
    pixels, origin = read_pixels(tmp_path / OUTPUT)
    assert (pixels == good).all() and origin == 88


def wrong(run, tmp_path):
    with pytest.raises(TesseraError) as error:
        run.verify(Finished(0, "", "sorry", tmp_path))
    assert error.value.exit_code == 1
    return str(error.value)


def test_one_wrong_pixel_is_found(run, good, tmp_path):
    changed = good.copy()
    changed[50, 40, 1] ^= 4
    vips_file(tmp_path / OUTPUT, changed, 88)
    assert "differs by" in wrong(run, tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path, good: path.unlink(), "sorry"),
        (lambda path, good: path.write_bytes(b"\xb6\xa6\xf2\x08"), "b6a6f208"),
        (lambda path, good: path.write_bytes(b"P6" + path.read_bytes()[2:]), "5036f208"),
        (lambda path, good: path.write_bytes(path.read_bytes()[:-1]), "88 x 110"),
        (lambda path, good: vips_file(path, good[:, :, :1], 88), "1 bands"),
        (lambda path, good: vips_file(path, good[:-3], 88), "88 x 107"),
        (lambda path, good: vips_file(path, good, 80), "column 80"),
    ],
)
def test_other_outputs_are_errors(run, good, tmp_path, change, said):
    change(tmp_path / OUTPUT, good)
    assert said in wrong(run, tmp_path)


@pytest.mark.parametrize(
    ("args", "said"),
    [(("--width", "63"), "64 or more"), (("--depth", "9"), "--height"), (("--seed",), "value")],
)
def test_wrong_options_are_named(tmp_path, args, said):
    with pytest.raises(TesseraError) as error:
        prepare(row(*args), "s", tmp_path)
    assert said in str(error.value)


def test_it_has_an_image_of_its_own_and_one_worker(run, tmp_path, monkeypatch):
    """A package more in the image of workloads would change the digest of every recording in it."""
    assert run.image == VIPS == debian.image_folder("vips") and debian.image_folder("xalan") == WORKLOADS
    assert run.environment["VIPS_CONCURRENCY"] == "1" and run.threads
    monkeypatch.setattr(execution, "installed", lambda image: image)
    options = execution.tracing_options(run, row().sizes["s"], tmp_path)
    assert (options["where"], options["thread"], options["threads"]) == (VIPS, "3", True)


def test_the_row_of_the_configuration():
    found = workloads.load_workload("vips")
    assert [found.sizes[name].footprint for name in ("default", "paper")] == [42 << 20, 927 << 20]
    for size in found.sizes.values():
        width, height = (int(size.args[at]) for at in (1, 3))
        assert abs(size.footprint - 3 * width * height) < 1 << 20


@pytest.mark.toolchain
def test_vips_itself_agrees(tmp_path):
    from tessera.machine.container.image_inputs import vips_tag
    from tessera.machine.container.images import image_exists

    if not image_exists(vips_tag()):
        pytest.skip("./run tessera dev build --vips-image")
    run = prepare(row("--width", "301", "--height", "203", "--seed", "7"), "s", tmp_path)
    _, result = execute(run, tmp_path)
    assert result["verified"] is True and result["compared"] > 0.95 * 301 * 203 * 1.21
