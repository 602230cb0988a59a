"""`tessera mapping capture`: what it reads from /proc, on files written by hand; its codes and the page."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.core.mapping import capture as capturing
from tessera.core.mapping.capture import Span, capture_pools, check_allowed
from tests.docs import pages

PRESENT, SWAPPED, EXCLUSIVE = 1 << 63, 1 << 62, 1 << 56
THP, ZERO_PAGE = 1 << 22, 1 << 24
BASE, PID = 1 << 30, 77  # page 262144
ADMIN, NOBODY = "0000000000200000", "00000000ffdfffff"


class Fake:
    """A /proc with one process, whose pool ``mmap`` begins at ``BASE``."""

    def __init__(self, folder):
        self.proc = folder / "proc"
        for name in ("self", str(PID)):
            (self.proc / name).mkdir(parents=True)
        self.capabilities(ADMIN)
        self.pages({0: PRESENT | EXCLUSIVE | 100})
        self.flags({})
        self.huge(0)

    def capabilities(self, effective):
        (self.proc / "self/status").write_text(f"Name:\tx\nCapEff:\t{effective}\nCapBnd:\tffffffffffffffff\n")

    def pages(self, words):
        self._write(self.proc / str(PID) / "pagemap", {BASE // 4096 + page: w for page, w in words.items()})

    def flags(self, words):
        self._write(self.proc / "kpageflags", words)

    def huge(self, kb):
        (self.proc / str(PID) / "smaps").write_text(
            f"{BASE - 4096:x}-{BASE:x} rw-p 00000000 00:00 0 \nAnonHugePages:      2048 kB\nVmFlags: rd wr\n"
            f"{BASE:x}-{BASE + (1 << 23):x} rw-p 00000000 00:00 0 \nSize: 8192 kB\nAnonHugePages:  {kb} kB\n"
            f"{BASE + (1 << 36):x}-{BASE + (1 << 37):x} ---p 00000000 00:00 0 \nAnonHugePages: 2048 kB\n"
        )

    def capture(self, used=1 << 23):
        return capture_pools(PID, [Span("mmap", BASE, used)], self.proc)

    @staticmethod
    def _write(path, words):
        with path.open("wb") as stream:
            for number, word in words.items():
                stream.seek(8 * number)
                stream.write(np.uint64(word).tobytes())


@pytest.fixture
def fake(tmp_path):
    return Fake(tmp_path)


def run(page, frame, pages, more=EXCLUSIVE):
    return {page + i: PRESENT | more | (frame + i) for i in range(pages)}


def refused(call, code):
    with pytest.raises(TesseraError) as error:
        call()
    assert error.value.code == code
    return error.value


def test_root_may_capture(fake):
    check_allowed(fake.proc)


def test_without_the_capability_nothing_starts(fake):
    fake.capabilities(NOBODY)
    assert "CAP_SYS_ADMIN" in refused(lambda: check_allowed(fake.proc), "mapping/hidden-frames").found


def test_without_kpageflags_nothing_starts(fake):
    (fake.proc / "kpageflags").unlink()
    error = refused(lambda: check_allowed(fake.proc), "mapping/kpageflags")
    assert "CONFIG_PROC_PAGE_MONITOR" in error.remedy
    refused(fake.capture, "mapping/kpageflags")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({0: PRESENT | EXCLUSIVE, 5: PRESENT | EXCLUSIVE}, "mapping/hidden-frames"),
        ({0: PRESENT | EXCLUSIVE | 9, 5: SWAPPED | 9}, "mapping/swapped"),
        ({}, "mapping/no-pools"),
        ({1 << 11: PRESENT | EXCLUSIVE | 9}, "mapping/no-pools"),  # behind the used part
    ],
)
def test_words_that_are_no_mapping(fake, words, code):
    fake.pages(words)
    refused(fake.capture, code)


def test_the_process_has_ended(fake):
    (fake.proc / str(PID) / "pagemap").unlink()
    assert str(PID) in refused(fake.capture, "mapping/ended").asked


def test_a_large_page_is_flagged_aligned_and_in_smaps(fake):
    fake.pages(run(3, 5000, 2) | run(512, 2048, 512) | run(1024, 2560, 512) | run(1536, 9000, 512))
    fake.flags({2048 + i: THP for i in range(512)} | {2560 + i: THP for i in range(511)} | {9000: THP})
    fake.huge(2048)
    assert fake.capture().rows.tuples() == [
        ("mmap", 3, 5000, 2, "4KB"),
        ("mmap", 512, 2048, 512, "2MB"),
        ("mmap", 1024, 2560, 512, "4KB"),  # one of 512 without the flag
        ("mmap", 1536, 9000, 512, "4KB"),  # not aligned
    ]


def test_pages_of_the_zero_page_have_no_row(fake):
    fake.pages({1: PRESENT | 40, 2: PRESENT | 40, 3: PRESENT | 41, 4: PRESENT | EXCLUSIVE | 42})
    fake.flags({40: ZERO_PAGE, 41: 0, 42: ZERO_PAGE})  # an exclusive page is never looked up
    found = fake.capture()
    assert found.rows.tuples() == [("mmap", 3, 41, 2, "4KB")] and found.zero_pages == 2


def test_frames_far_apart_are_looked_up_one_by_one(fake):
    frames = [7, 1 << 20, 3, 500, 560]
    fake.pages({page: PRESENT | frame for page, frame in enumerate(frames)})
    fake.flags({500: ZERO_PAGE, 1 << 20: ZERO_PAGE})
    assert [row[2] for row in fake.capture().rows.tuples()] == [7, 3, 560]


def test_a_page_that_splits_is_read_again(fake, monkeypatch):
    fake.pages(run(512, 2048, 512))
    fake.flags({2048 + i: THP for i in range(512)})
    answers = [0, 0, 0, 2 << 20]
    monkeypatch.setattr(capturing, "_huge_bytes", lambda *_: answers.pop(0))
    assert fake.capture().rows.tuples()[0][4] == "2MB" and not answers


def test_after_four_attempts_the_difference_is_an_error(fake, monkeypatch):
    asked = []
    monkeypatch.setattr(capturing, "_huge_bytes", lambda *_: asked.append(1) or 4096)
    assert "4096" in refused(fake.capture, "mapping/smaps").found and len(asked) == 4


def test_pages_that_move_are_an_error(fake, monkeypatch):
    moved, words = [100], capturing._words

    def moving(descriptor, first, count):
        moved[0] += 1
        fake.pages({0: PRESENT | EXCLUSIVE | moved[0]})
        return words(descriptor, first, count)

    monkeypatch.setattr(capturing, "_words", moving)
    assert refused(fake.capture, "mapping/changed").found.startswith("1 ")


def test_eight_gigabytes_of_scattered_pages(fake):
    pages = 1 << 21
    frames = np.random.default_rng(1).permutation(pages).astype(np.uint64) + np.uint64(10)
    with (fake.proc / str(PID) / "pagemap").open("wb") as stream:
        stream.seek(BASE // 4096 * 8)
        stream.write((frames | np.uint64(PRESENT | EXCLUSIVE)).tobytes())
    found = fake.capture(8 << 30)
    assert int(found.rows.pages.sum()) == pages


def test_the_codes_are_on_the_page(root):
    sources = [root / "src/tessera/core/mapping/capture.py"]
    sources += [root / "src/tessera/measure/mosalloc" / f"{name}.py" for name in ("capture", "pools")]
    used = {code for path in sources for code in re.findall(r'"(mapping/[a-z-]+)"', path.read_text())}
    assert len(used) >= 9
    assert used <= {row[0] for row in pages.table("errors.md", "| code | found | what to do |")}
