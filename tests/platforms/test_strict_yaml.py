"""What YAML does in silence is refused with file and line; mutated files are refused or read, no more."""

from __future__ import annotations

import errno
import os
import random
import re
import time

import pytest
import yaml

from tessera.core import configuration_files, platforms
from tessera.core.errors import TesseraError
from tessera.core.platforms import platforms_folder

BILLION = "a: &a [1,2,3]\n" + "".join(
    f"{c}: &{c} [*{p},*{p},*{p}]\n" for p, c in zip("abc", "bcd", strict=True)
)
REFUSED = {
    "duplicate key": ("a: 1\nb: {c: 1, d: 2, c: 3}\n", ["key 'c' is given twice", "line 2"]),
    "duplicate after quoting": ("a: 1\n'a': 2\n", ["key 'a' is given twice"]),
    "alias bomb": (BILLION, ["anchor or alias", "line 1"]),
    "recursive alias": ("a: &a\n  b: *a\n", ["anchor or alias"]),
    "merge": ("a: {<<: {b: 1}}\n", ["key '<<' is not a word"]),
    "octal": ("a: 010\n", ["'010' is not a whole number in plain decimal digits"]),
    "base 60": ("a: 1:30\n", ["'1:30' is not a whole number"]),
    "hexadecimal": ("a: 0x10\n", ["'0x10' is not a whole number"]),
    "underscores": ("a: 1_000\n", ["'1_000' is not a whole number"]),
    "thousands of digits": (f"a: {'9' * 5000}\n", ["is not a whole number"]),
    "key is a list": ("[1, 2]: 3\n", ["key 'a sequence' is not a word"]),
    "key is nothing": ("~: 3\n", ["is not a word"]),
    "Python object": (
        "a: !!python/object/apply:os.system [id]\n",
        ["not YAML", "could not determine a constructor"],
    ),
    "tagged number": ("a: !!int [1]\n", ["is not a whole number"]),
    "impossible date": ("a: 2020-13-45\n", ["not YAML"]),
    "two documents": ("a: 1\n---\nb: 2\n", ["not YAML"]),
    "unclosed": ("name: [", ["not YAML"]),
    "control character": ("a: \x01\n", ["not YAML"]),
    "deep lists": ("a: " + "[" * 100_000, ["nested deeper than 32 levels"]),
    "deep mappings": ("{a: " * 40 + "1" + "}" * 40, ["nested deeper than 32 levels"]),
    "not a mapping": ("- 1\n", ["not a mapping"]),
    "empty": ("", ["not a mapping"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case, tmp_path):
    text, words = REFUSED[case]
    path = tmp_path / "p.yaml"
    path.write_text(text)
    start = time.monotonic()
    with pytest.raises(TesseraError) as error:
        platforms.load_platform(path)
    assert time.monotonic() - start < 5
    for word in ["p.yaml", *words]:
        assert word in str(error.value)
    assert error.value.remedy


def test_bytes_that_are_no_text_and_files_that_are_no_files(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_bytes(b"name: \xff\xfe\n")
    with pytest.raises(TesseraError, match=r"\b6\b.*UTF-8"):
        platforms.load_platform(path)
    path.write_bytes(b"# " + b"x" * configuration_files.MAX_BYTES)
    with pytest.raises(TesseraError, match=r"\b1048576 bytes"):
        platforms.load_platform(path)
    with pytest.raises(TesseraError, match=os.strerror(errno.ENOENT)):
        platforms.load_platform(tmp_path / "missing.yaml")
    with pytest.raises(TesseraError, match=os.strerror(errno.EISDIR)):
        platforms.load_platform(tmp_path.rename(tmp_path.with_suffix(".yaml")))


def test_plain_trees_are_what_pyyaml_reads():
    text = (platforms_folder() / "broadwell-sim.yaml").read_text()
    assert configuration_files.parse_yaml(text) == yaml.safe_load(text)


WORDS = [
    "{",
    "}",
    "[",
    "]",
    ":",
    "- ",
    "&a ",
    "*a",
    "<<: ",
    "!!",
    "!!int ",
    "%",
    "\t",
    "\x00",
    "'",
    '"',
    "|\n",
    "? ",
    "#",
] + ["~", ".nan", "-1", "1e400", "yes", "0o7", "9" * 30, "\n", "\n  ", "source", "value: ", "\ufeff", "---\n"]


def mutate(text: str, rng: random.Random) -> str:
    """Up to four edits: a word put in, a stretch cut, repeated or moved, a character replaced."""
    for _ in range(rng.randrange(1, 5)):
        at, length = rng.randrange(len(text) + 1), rng.randrange(1, 60)
        choice = rng.randrange(5)
        if choice == 0:
            text = text[:at] + rng.choice(WORDS) + text[at:]
        elif choice == 1:
            text = text[:at] + text[at + length :]
        elif choice == 2:
            text = text[:at] + text[at : at + length] * 2 + text[at + length :]
        elif choice == 3:
            text = text[:at] + chr(rng.randrange(1, 0x3000)) + text[at + 1 :]
        else:
            other = rng.randrange(len(text) + 1)
            text = text[:at] + text[other : other + length] + text[at:]
    return text


def fuzz(seconds: float, seed: int, path) -> tuple[int, int]:
    """(files tried, accepted); a seeded run is repeated by its seed."""
    rng = random.Random(seed)
    good = [(platforms_folder() / f"{n}.yaml").read_text() for n in ("sandybridge-sim", "zen-sim")]
    # Short pieces reach the YAML layer far oftener than whole platforms.
    good += ["\n".join(text.splitlines()[:n]) for text in good for n in (4, 9, 20)]
    tried = accepted = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        text = mutate(rng.choice(good), rng)
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        tried += 1
        try:
            found = platforms.load_platform(path)
        except TesseraError as error:
            assert str(path) in str(error) and error.remedy, f"seed {seed}, file {tried}"
        else:
            accepted += 1
            assert re.fullmatch(r"([\w.]+ = [\w-]+\n)+", found.flat())
    return tried, accepted


def test_mutated_files_are_refused_or_read(tmp_path):
    tried, accepted = fuzz(4, 20, tmp_path / "p.yaml")
    assert 0 < accepted < tried  # a fuzzer that sees one side only tests nothing
