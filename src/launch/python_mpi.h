// Which MPI a Python program will use: the one of the mpi4py (or else h5py) that this interpreter
// would import, found without starting it.
//
// sys.path is rebuilt from pyvenv.cfg, the prefix, PYTHONPATH and the user's site directory, as
// CPython's getpath and site do. Not followed: .pth files, PYTHONHOME, the script's own directory.
// A module that is not found there is not an error: the launcher then decides, or --mpi.
//
// mpi4py's wheels carry one module per ABI (MPI.mpich.*.so, MPI.openmpi.*.so) and choose when they
// are imported, by MPI4PY_MPIABI, MPI4PY_LIBMPI or the first MPI library found beside Python
// (mpi4py/_mpiabi.py); the same rules are applied here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/environment.h"
#include "launch/loader.h"
#include "launch/mpi_library.h"

namespace haichi::launch {

/// Whether a program of this name is a Python interpreter: python, python3, python3.11, pypy3.
bool is_python(std::string_view program_name);

/// An interpreter's places: where it looks for modules, and where mpi4py looks for MPI libraries.
struct PythonPlaces {
  std::string version;                    ///< "3.11"; empty if it cannot be told
  std::vector<std::string> module_path;   ///< directories of packages, in sys.path's order
  std::vector<std::string> library_path;  ///< the lib directories that mpi4py's wheels search
};

/// `interpreter` is the path of the executable as found in PATH, symbolic links not followed: a
/// virtual environment is known by where its link lies.
PythonPlaces python_places(const std::string& interpreter, const Environment& environment);

/// The MPI that `interpreter` would import, with the module in `needed_by`; nothing if it has no
/// module that uses MPI. Fails with ENOTSUP for an MPI that haichi has no shim for.
Result<std::optional<MpiLibrary>> find_python_mpi(const std::string& interpreter,
                                                  const Environment& environment,
                                                  const Loader& loader);

}  // namespace haichi::launch
