"""Simulated platforms: YAML files in ``config/platforms`` whose every value carries its source."""

from tessera.platforms.model import Platform, load, names

__all__ = ["Platform", "load", "names"]
