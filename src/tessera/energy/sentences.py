"""What the tables of energy say, as rows and sentences for terminal, page and notebook."""

from __future__ import annotations

import pandas as pd

from tessera.energy.power import BASELINE


def by_constants(savings: pd.DataFrame) -> list[dict]:
    """A row per set of constants: medians and extremes over the pairs."""
    found = []
    for name, part in savings.groupby("constants", sort=False):
        found.append(
            {
                "constants": name,
                "pairs": len(part),
                "static_share": float(part["static_share"].median()),
                "ratio": float(part["ratio_2mb"].median()),
                "ratio_least": float(part["ratio_2mb"].min()),
                "ratio_greatest": float(part["ratio_2mb"].max()),
                "fastest": f"{int(part['fastest_needs_least'].astype(bool).sum())} of {len(part)}",
                "excess": float(part["excess_of_fastest"].max()),
                "reversed": float(part["reversed_share"].max()),
            }
        )
    return found


def sentences(savings: pd.DataFrame) -> list[str]:
    """Conclusions in words; none without rows."""
    if savings.empty:
        return []
    given = savings[savings["constants"] == BASELINE]
    ratios = given["ratio_2mb"]
    spread = (
        f" (median of {len(ratios)} pairs; {ratios.min():.2f} to {ratios.max():.2f})"
        if len(ratios) > 1
        else ""
    )
    found = [
        "With the constants as given, 2MB pages save "
        f"{ratios.median():.2f} times as much of the energy as of the runtime{spread}."
    ]
    pairs = savings.groupby(["workload", "platform"])["fastest_needs_least"].apply(
        lambda part: part.astype(bool).all()
    )
    found.append(
        f"The fastest mosaic needs the least energy under every set of constants in {int(pairs.sum())} of "
        f"{len(pairs)} pairs."
    )
    other = savings[~savings["fastest_needs_least"].astype(bool)]
    found += [
        f"Not so on {row.workload}, {row.platform}, with {row.constants}: {row.fastest_layout} is fastest, "
        f"and needs {100 * row.excess_of_fastest:.2f}% more energy than {row.least_energy_layout}."
        for row in other.sort_values("excess_of_fastest", ascending=False).head(5).itertuples()
    ]
    worst = savings.loc[savings["reversed_share"].idxmax()]
    if worst["reversed_share"] > 0:
        found.append(
            f"Among slower layouts the order can differ: with {worst['constants']}, {worst['workload']} on "
            f"{worst['platform']} has {100 * worst['reversed_share']:.2f}% of its pairs of layouts reversed."
        )
    return found
