"""`haichi compare`: two sets of samples; or a user's own program, with the MPI library alone and
under haichi."""
