"""The study of transfer: is a runtime model of P right for a new design? (docs/explain/transfer.md)

From the bottom: ``classes`` (variants of P), ``rules``, ``runs`` (simulations), ``points``, ``twins`` (R of
P at the same H, M, C), ``predictions`` (models of P), ``bracket_answers``, ``ladder``, ``verdicts`` <
``study`` (files of a workload, and of a run) < ``archived``, ``own_design`` < ``answer`` < ``from_python``.
"""
