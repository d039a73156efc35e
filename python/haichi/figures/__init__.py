"""Measurements of haichi against the MPI library alone: what runs, where, and what came of it."""
