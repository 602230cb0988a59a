"""The user's SPEC CPU installation: its location, its commands, and the check of their outputs."""
