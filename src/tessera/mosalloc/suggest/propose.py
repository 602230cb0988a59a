"""From a profile to a proposal: choose pages, and search with the simulator where there is a trace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.mosalloc.suggest import choose
from tessera.mosalloc.suggest.printed import Proposal
from tessera.mosalloc.suggest.profile import Page, Profile
from tessera.mosalloc.suggest.verify import count_misses, search
from tessera.platforms import Platform


def propose(
    profile: Profile,
    platform: Platform | None,
    share: float,
    max_pages: int | None,
    name: str,
    folder: Path,
) -> Proposal:
    """The fewest pages that remove ``share`` of the misses in the pools, in few windows.

    Raises:
        TesseraError: no miss lies in the pools.
    """
    every = choose.ranked(profile)
    if not every:
        raise TesseraError(
            "suggest",
            f"none of {profile.total:,.0f} TLB misses lies in the pools, so huge pages can't help",
            "give the program that does the work: Tessera does not follow exec and child processes",
            exit_code=EXIT_FAILED,
            code="no-miss-in-pools",
        )

    def left(pages: Sequence[Page]) -> float:
        """Misses left with these pages huge."""
        if profile.trace is None or platform is None:
            return profile.total - sum(profile.misses[page] for page in pages)
        return count_misses(profile.trace, platform, [pages], profile.pool_bytes, folder)[0]

    wanted = profile.total - share * profile.in_pools
    pages = every[:max_pages]
    by_profile = choose.fewest(profile, pages, share)
    if profile.trace is None or platform is None:
        count, reached = (len(pages), False) if by_profile is None else (by_profile, True)
        remaining = left(pages[:count])
    else:
        count, remaining, reached = search(
            pages,
            by_profile or len(pages),
            wanted,
            lambda counts: count_misses(
                profile.trace, platform, [pages[:n] for n in counts], profile.pool_bytes, folder
            ),
        )
    chosen, tidy = pages[:count], choose.compact(profile)[:count]
    # As many pages in fewer windows are better, if they are as good.
    if len(choose.windows(tidy)) < len(choose.windows(chosen)):
        with_tidy = left(tidy)
        if with_tidy <= (wanted if reached else remaining):
            chosen, remaining = tidy, with_tidy
    return Proposal(choose.layout(name, profile, chosen), share, remaining, reached, len(every))
