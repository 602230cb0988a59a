"""Commands of the lab: studies, validation, kernel, NUMA, page faults, threads, imitation of Linux.

Start with `study`. `study_designs`, `numa_programs` and `kernel_experiments` hold further commands of `study`,
`numa` and `kernel`.
"""
