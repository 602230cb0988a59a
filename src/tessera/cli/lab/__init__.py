"""Commands of the lab: studies, validation, kernel, NUMA, page faults, threads, imitation of Linux."""
