"""What a result was made from: config, versions, machine, engine, hashes, provenance per quantity.

``collect(results_dir, config)`` writes ``provenance/*.json``. No user name, no host name and no absolute
path goes in: every text passes through :mod:`tessera.results.provenance.scrub`.
"""

from tessera.results.provenance.collect import collect, load

__all__ = ["collect", "load"]
