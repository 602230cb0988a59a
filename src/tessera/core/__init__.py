"""What every room may use: errors, units, places in a checkout, signals, statistics."""
