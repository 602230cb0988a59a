"""Running the simulator: all layouts of a platform over one trace, with a cache of finished cells."""
