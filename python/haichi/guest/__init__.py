"""A machine of several NUMA nodes that is not there, in QEMU: `haichi lab numa`."""
