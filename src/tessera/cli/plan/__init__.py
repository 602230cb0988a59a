"""What a configuration costs before it runs: jobs, core hours, memory, disk, and days on some nodes.

`command` prints it, `estimate` computes it, and `costs` is the model; its numbers are in costs.csv.
"""
