"""Origin of a result: config, versions, machine, engine, hashes, provenance per quantity.

``collect(results_dir, config)`` writes ``provenance/*.json``, ``keep_config`` its part ``config`` earlier.
:mod:`tessera.results.provenance.scrub` removes user names, host names and absolute paths from every text.
"""

from tessera.results.provenance.collect import collect, keep_config, load

__all__ = ["collect", "keep_config", "load"]
