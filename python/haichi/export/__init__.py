"""Decisions as rules that an MPI library reads itself: their use without haichi."""
