"""What `haichi measure` leaves: its form, and reading it."""
