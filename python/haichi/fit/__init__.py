"""What a machine is like, made from samples: `haichi fit` and the form `haichi.machine/2`."""
