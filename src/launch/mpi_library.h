// Which MPI a program is linked with: the MPI libraries that haichi knows, by their sonames.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "launch/loader.h"

namespace haichi::launch {

/// The application binary interfaces of MPI that haichi has shims for.
enum class Abi { mpich, openmpi, mpiabi };
inline constexpr std::array kAbis = {Abi::mpich, Abi::openmpi, Abi::mpiabi};

/// "mpich", "openmpi" or "mpiabi": part of the shim's name, and what --mpi takes.
std::string_view abi_name(Abi abi);
std::optional<Abi> abi_from_name(std::string_view name);

/// An MPI library that a program asks for.
struct MpiLibrary {
  Abi abi;
  std::string soname;
  std::string path;       ///< empty if the loader would not find it
  std::string needed_by;  ///< the program, or the library of it that asks
};

/// Whether `name` is the file name of an MPI library of any kind, known or not.
bool is_mpi_library(std::string_view name);

/// The MPI library that the program or library `file` at `path` would run with, or nothing if it
/// asks for none. Fails with ENOTSUP for an MPI that haichi has no shim for; the text names it.
Result<std::optional<MpiLibrary>> find_mpi(const std::string& path, const ElfFile& file,
                                           const Loader& loader);

/// The ABI of the MPI library at `path`, by its soname and contents; the error as for find_mpi.
Result<Abi> abi_of_library(const std::string& path);

}  // namespace haichi::launch
