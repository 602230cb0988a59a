"""A SPEC CPU installation of the user's: where it is, what it runs, and whether the answer is right."""
