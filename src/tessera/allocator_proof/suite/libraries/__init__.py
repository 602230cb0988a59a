"""The library under other C libraries than the one it was built with."""
