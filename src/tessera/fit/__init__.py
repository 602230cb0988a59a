"""From cells to runtimes: models, the order in which layouts are simulated, predictions."""
