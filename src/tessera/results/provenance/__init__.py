"""Origin of a result: config, versions, machine, engine, hashes, provenance per quantity.

``collect(results_dir, config)`` writes ``provenance/*.json``. :mod:`tessera.results.provenance.scrub` removes
user names, host names and absolute paths from every text.
"""

from tessera.results.provenance.collect import collect, load

__all__ = ["collect", "load"]
