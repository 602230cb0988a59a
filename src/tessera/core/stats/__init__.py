"""Small statistics with their rules written down: intervals and paired differences."""

from tessera.core.stats.interval import Interval, mean_interval, paired_ratio_interval

__all__ = ["Interval", "mean_interval", "paired_ratio_interval"]
