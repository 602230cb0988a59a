"""What a configuration costs before it runs: jobs, core hours, memory, disk, and days on a number of nodes.

``costs`` reads the committed cost model, ``jobs`` asks Snakemake for the jobs, ``estimate`` multiplies, and
``check`` compares with a finished run.
"""

from tessera.plan.estimate import Machines, Plan, plan

__all__ = ["Machines", "Plan", "plan"]
