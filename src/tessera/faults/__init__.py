"""What page faults cost: measured on this machine, and recorded in Linux 6.12 (docs/faults.md).

From the bottom:

- ``kinds``: kinds of first touches, and the periods that their latencies have;
- ``series``: latencies of the passes of one kind, and which passes count;
- ``quantiles``, ``comb``, ``cosine``: what is computed from them;
- ``conditions``: what a measurement needs of this machine;
- ``probe``: runs ``tessera-faults``;
- ``tables``: the rows of the results; ``measure``: all kinds."""
