"""The study of scenarios: one program under several states of a machine's memory (docs/os.md).

From the bottom: :mod:`recording` (a workload from its first instruction, with its calls), :mod:`logs` (what
the imitation of Linux decides, as tables), :mod:`cells` (H, M, C and R behind it, beside layouts),
:mod:`step`.
"""
