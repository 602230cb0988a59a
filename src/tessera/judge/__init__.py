"""What a run is held to: claims of the papers, validation of the simulator, studies of its assumptions."""
