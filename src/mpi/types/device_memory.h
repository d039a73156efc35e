// Memory that the host must not touch: that of an accelerator, which programs hand to MPI libraries
// that know about it.
#pragma once

namespace haichi::mpi {

/// True if the driver of a device (CUDA's, ROCm's) says that the byte is the device's, or in memory
/// that it manages. False where no driver is loaded in this process. Thread-safe.
bool on_device(const void* address);

}  // namespace haichi::mpi
