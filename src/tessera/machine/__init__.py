"""The machine below: containers, reserved huge pages, what the doctor finds."""
