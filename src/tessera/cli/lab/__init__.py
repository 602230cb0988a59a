"""Commands of the lab: studies, validation, kernel, NUMA, page faults, threads, imitation of Linux.

Start with `study`. Further commands of `study`, `numa` and `kernel` are in `study_designs`, `numa_programs`
and `kernel_experiments`.
"""
