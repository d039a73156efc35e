"""What would make a recorded program faster: where its ranks belong, and which of its calls cost
more than they need."""
