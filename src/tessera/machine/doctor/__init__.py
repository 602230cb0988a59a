"""What this machine can do, row by row, before and after anything is installed."""
