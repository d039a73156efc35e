#include "launch/mpi_library.h"

#include <errno.h>

#include <algorithm>

#include "launch/paths.h"

namespace haichi::launch {
namespace {

// A soname that begins with `prefix` and ends with `suffix` (together all of it if `exact`).
// Without an ABI, `product` is what the error message calls the library. First match counts.
struct Soname {
  std::string_view prefix;
  std::string_view suffix;
  std::optional<Abi> abi;
  std::string_view product;
};

constexpr Soname kSonames[] = {
    // The MPICH ABI initiative: MPICH >= 3.1, Intel MPI, MVAPICH, ParaStation, Cray's ABI build.
    {"libmpi.so", ".12", Abi::mpich, ""},
    {"libmpich.so", ".12", Abi::mpich, ""},  // Debian's name for it
    {"libmpi_cray.so", ".12", Abi::mpich, ""},
    {"libmpi_gnu.so", ".12", Abi::mpich, ""},
    {"libmpi_gnu_", ".so.12", Abi::mpich, ""},
    {"libmpi_intel.so", ".12", Abi::mpich, ""},
    {"libmpi_nvidia.so", ".12", Abi::mpich, ""},
    {"libmpi_amd.so", ".12", Abi::mpich, ""},
    {"libmpi.so", ".40", Abi::openmpi, ""},
    {"libmpi_abi.so", ".1", Abi::mpiabi, ""},
    {"libmpi_abi.so", ".0", {}, "a draft of the MPI ABI"},
    {"libmpi.so", ".20", {}, "Open MPI 2"},
    {"libmpi.so", ".1", {}, "Open MPI 1"},
    {"libmpi.so", ".0", {}, "Open MPI 1"},
    {"libmpi.so", ".4", {}, "Intel MPI 4"},
    {"libmpi.so", "", {}, "HPE MPT"},
    {"libmpich.so", ".10", {}, "MPICH 3.0"},
    {"libmpich.so", ".3", {}, "MPICH 1.4"},
    {"libmpi_ibm.so", ".3", {}, "IBM Spectrum MPI"},
};

// What is not in the table above but can only be an MPI library.
constexpr std::string_view kFamilies[] = {"libmpi.so.", "libmpich.so.", "libmpi_abi.so.",
                                          "libmpi_ibm.so."};

bool matches(const Soname& row, std::string_view name) {
  if (row.prefix.ends_with('_')) return name.starts_with(row.prefix) && name.ends_with(row.suffix);
  return name.size() == row.prefix.size() + row.suffix.size() && name.starts_with(row.prefix) &&
         name.ends_with(row.suffix);
}

Result<Abi> abi_of_soname(std::string_view soname) {
  const std::string_view name = file_name(soname);
  for (const Soname& row : kSonames) {
    if (!matches(row, name)) continue;
    if (row.abi) return *row.abi;
    return fail(ENOTSUP, "{} ({}) is not supported", row.product, name);
  }
  return fail(ENOTSUP, "the MPI library {} is not known", name);
}

// Two libraries bear MPICH's soname and are not what the shim is made for.
Status check_mpich(const std::string& path, const ElfFile& library) {
  for (const std::string_view name : library.needed())
    if (name.starts_with("libopen-rte.so") || name.starts_with("libopen-pal.so"))
      return fail(ENOTSUP, "Open MPI 1.10 ({}) is not supported", path);
  if (!library.defines("MPI_Send_c"))
    return fail(ENOTSUP,
                "{} is an MPI older than version 4 (it has no MPI_Send_c) and not supported", path);
  return {};
}

}  // namespace

std::string_view abi_name(Abi abi) {
  constexpr std::string_view names[] = {"mpich", "openmpi", "mpiabi"};
  return names[int(abi)];
}

std::optional<Abi> abi_from_name(std::string_view name) {
  for (const Abi abi : kAbis)
    if (abi_name(abi) == name) return abi;
  return std::nullopt;
}

bool is_mpi_library(std::string_view name) {
  name = file_name(name);
  return std::any_of(std::begin(kSonames), std::end(kSonames),
                     [&](const Soname& row) { return matches(row, name); }) ||
         std::any_of(std::begin(kFamilies), std::end(kFamilies),
                     [&](std::string_view family) { return name.starts_with(family); });
}

Result<std::optional<MpiLibrary>> find_mpi(const std::string& path, const ElfFile& file,
                                           const Loader& loader) {
  MpiLibrary library;
  const bool found =
      loader.walk(path, file, [&](std::string_view name, const LoadedObject& requester) {
        if (!is_mpi_library(name)) return false;
        library.soname = name;
        library.path = loader.find(name, requester);
        library.needed_by = requester.path;
        return true;
      });
  if (!found) return std::nullopt;
  // A library that is missing is the loader's to report, once the program starts.
  const auto abi =
      library.path.empty() ? abi_of_soname(library.soname) : abi_of_library(library.path);
  if (!abi) return fail(abi.error().code, "{} runs with {}", path, abi.error().text);
  library.abi = *abi;
  return library;
}

Result<Abi> abi_of_library(const std::string& path) {
  auto library = ElfFile::open(path);
  if (!library) return tl::unexpected(library.error());
  const auto abi = abi_of_soname(library->soname().empty() ? path : library->soname());
  if (abi && *abi == Abi::mpich)
    if (auto right = check_mpich(path, *library); !right) return tl::unexpected(right.error());
  return abi;
}

}  // namespace haichi::launch
