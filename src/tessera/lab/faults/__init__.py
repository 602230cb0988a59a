"""What page faults cost: measured on this machine, and recorded in Linux 6.12 (docs/explain/faults.md).

Measured: ``kinds`` (of first touches, and the periods of their latencies), ``latencies`` (what counts,
quantiles, combs, cosines), ``measured`` (on this machine).

Recorded in a guest: ``recorded_faults`` (text and counts), ``recording`` (a folder, and the structures of
the kernel), ``guest_facts`` (what the guest's memory says of its frames), ``recorder`` (boots the guest
with the plugin), ``weave`` (faults as templates for the simulator).

``virtuoso``, ``virtuoso_runs`` and ``virtuoso_claims`` are Virtuoso's figures for simulated faults.
``show``: lines for people.
"""
