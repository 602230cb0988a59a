"""Random changes of good files, for fuzzers of readers."""

from __future__ import annotations

import random

#: What readers of text stumble over: separators, and words of the formats.
WORDS = [
    *";,\n/%{}[]\":#1 \t\x00é²٣-.+", "0.5", "100.00", "cycles", "CPU0", "S0-D0-C0", "<not counted>", "0x",
    "null", "true", "NaN", "Infinity", "1e400", "-1", "\r\n", "\u2028", "cpu/event=0x08,umask=0x10/u",
    "cpu_atom/x/", "msec", "broadwell", "growing-0", "ok", "failed",
]  # fmt: skip
#: Numbers, names and nesting without end.
LONG = ["9" * 30, "9" * 5000, "9" * 140_000, "[" * 3000, "x" * 5000]
PIECES = [*WORDS, *LONG]


def mutated(rng: random.Random, data: bytes) -> bytes:
    """``data`` with up to six changes: bytes replaced, removed, flipped, copied, pieces put in, lines cut."""
    made = bytearray(data)
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        if not made:
            break
        at = rng.randrange(len(made))
        change = rng.randrange(6)
        if change == 0:
            made[at] = rng.randrange(256)
        elif change == 1:
            del made[at : at + rng.randrange(1, 12)]
        elif change == 2:
            made[at:at] = rng.choice(PIECES).encode()
        elif change == 3:
            made[at] ^= 1 << rng.randrange(8)
        elif change == 4:
            start = rng.randrange(len(made))
            made[at:at] = made[start : start + rng.randrange(60)]
        else:
            end = made.find(b"\n", at)
            del made[at : end if end > 0 else len(made)]
    return bytes(made)


def drawn(rng: random.Random, good: list[bytes]) -> bytes:
    """Random bytes, random pieces, a changed good file, or changed lines of good files."""
    choice = rng.randrange(4)
    if choice == 0:
        return rng.randbytes(rng.randrange(200))
    if choice == 1:
        return "".join(rng.choice(WORDS) for _ in range(rng.randrange(40))).encode()
    if choice == 2:
        return mutated(rng, rng.choice(good))
    lines = [line for data in rng.choices(good, k=2) for line in data.split(b"\n")]
    return mutated(rng, b"\n".join(rng.choices(lines, k=rng.randrange(1, 6))))
