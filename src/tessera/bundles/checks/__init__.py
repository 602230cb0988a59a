"""Checks of ``tessera bundle verify``: functions that yield what is wrong, each with its place.

They find mistakes: a changed file, another class, a count that no processor can give. They can't find fraud.
"""
