"""What the workflow's rules call: each link of the chain with failures turned into rows."""
