"""What every room may use: errors, units, places in a checkout, writing files, signals, statistics."""
