"""The sampling plan: which part of the region of interest is simulated with caches and time.

H and M are always exact over the whole region; C and R come from the plan's units and are scaled by
instructions (docs/architecture.md, Sampling).
"""

from __future__ import annotations

from dataclasses import dataclass

from tessera.errors import TesseraError

ENGINES = ("partial", "timing", "reference")
KEYS = ("units", "warmup_accesses", "timed_instructions")


@dataclass(frozen=True)
class Sampling:
    """Systematic samples: ``units`` evenly spaced parts of the region.

    Each unit warms TLBs, page-walk caches and data caches with ``warmup_accesses`` and then counts
    over ``timed_instructions``. ``units`` 0 means the whole region (``full``).
    """

    units: int = 20
    warmup_accesses: int = 2_500_000
    timed_instructions: int = 1_000_000

    def argument(self) -> str:
        """The simulator's ``--sampling`` argument."""
        if self.units == 0:
            return "full"
        return ",".join(f"{key}={getattr(self, key)}" for key in KEYS)


FULL = Sampling(0, 0, 0)


def parse_sampling(text: str) -> Sampling:
    """``full`` or ``units=20,warmup_accesses=2500000,timed_instructions=1000000`` (any subset)."""
    if text == "full":
        return FULL
    values: dict[str, int] = {}
    for part in text.split(","):
        key, _, number = part.partition("=")
        if key.strip() not in KEYS or not number.strip().isdigit():
            raise TesseraError(
                f"--sampling {text}",
                f"'{part}' is not one of {', '.join(k + '=N' for k in KEYS)}",
                "write --sampling full or e.g. --sampling units=20,timed_instructions=1000000",
            )
        values[key.strip()] = int(number)
    plan = Sampling(**values)
    if min(plan.units, plan.timed_instructions) < 1:
        raise TesseraError(
            f"--sampling {text}", "units and timed_instructions must be at least 1",
            "write --sampling full for the whole region",
        )  # fmt: skip
    return plan
