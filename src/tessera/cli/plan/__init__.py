"""What a configuration costs before it runs: jobs, core hours, memory, disk, and days on some nodes."""
