"""`haichi compare`: a user's own program, with the MPI library alone and under haichi."""
