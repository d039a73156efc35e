"""Output of other benchmarks as samples: one file for each, which says how it is told and read."""
