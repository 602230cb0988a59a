"""What people look at: figures, report, notebooks."""
