"""Costs of a fitted model in cycles: the effect of one more hit, miss or walk cycle at a point.

A cost is the partial derivative of the predicted runtime, the other two inputs held: exact derivatives of
the polynomial, not differences. In reality a miss comes with its walk, so `cycles_per_miss_with_walk` adds
the mean walk of that point: dR/dM + (C / M) dR/dC (none if M = 0). Costs may be negative: Mosmodel picks
inputs that are related (M falls as H rises); then only the sum of their costs has a meaning.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from tessera.core.errors import TesseraError


@dataclass(frozen=True)
class Explanation:
    """Costs at a point in cycles; inputs in counts and cycles."""

    model: str
    stlb_hits: float
    stlb_misses: float
    walk_cycles: float
    predicted_runtime_cycles: float
    cycles_per_stlb_hit: float
    cycles_per_stlb_miss: float
    cycles_per_walk_cycle: float
    cycles_per_miss_with_walk: float | None

    def as_dict(self) -> dict:
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{self.model} at {self.stlb_hits:.6g} STLB hits, {self.stlb_misses:.6g} STLB misses,"
            f" {self.walk_cycles:.6g} walk cycles: {self.predicted_runtime_cycles:.6g} cycles",
            f"  one more STLB hit costs   {self.cycles_per_stlb_hit:+.4g} cycles",
            f"  one more STLB miss costs  {self.cycles_per_stlb_miss:+.4g} cycles, its walk aside",
            f"  one more walk cycle costs {self.cycles_per_walk_cycle:+.4g} cycles",
        ]
        if self.cycles_per_miss_with_walk is not None:
            mean = self.walk_cycles / self.stlb_misses
            lines.append(
                f"  one more miss with a mean walk of {mean:.3g} cycles"
                f" costs {self.cycles_per_miss_with_walk:+.4g} cycles"
            )
        return "\n".join(lines)


def explain_at(model, H: float, M: float, C: float) -> Explanation:
    """Costs of a fitted model at STLB hits H, misses M (counts) and walk cycles C, scalars.

    Raises:
        TesseraError: a vector instead of a point, or what ``predict`` refuses.
    """
    runtime, slopes = model.predict(H, M, C), model.gradient(H, M, C)
    if getattr(runtime, "ndim", 0):
        raise TesseraError(
            f"explain model '{model.name}'", f"{runtime.size} points are given", "give one point at a time"
        )
    slope = {symbol: float(value) for symbol, value in slopes.items()}
    return Explanation(
        model=model.name,
        stlb_hits=float(H),
        stlb_misses=float(M),
        walk_cycles=float(C),
        predicted_runtime_cycles=float(runtime),
        cycles_per_stlb_hit=slope["H"],
        cycles_per_stlb_miss=slope["M"],
        cycles_per_walk_cycle=slope["C"],
        cycles_per_miss_with_walk=slope["M"] + C / M * slope["C"] if M > 0 else None,
    )
