"""Small statistics with their rules written down: intervals, paired differences, geometric means."""

from tessera.core.stats.interval import Interval, mean_interval, paired_ratio_interval

__all__ = ["GeometricMean", "Interval", "geometric_mean", "mean_interval", "paired_ratio_interval"]
