"""What a recorded program would take: by the curves of a machine, or by its sequence of events."""
