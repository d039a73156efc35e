#include "mpi/compat/handles.h"

#if defined(OPEN_MPI)
#include <dlfcn.h>
#endif

namespace haichi::mpi {
namespace {

#if defined(OPEN_MPI)

// libmpi's own symbol, whether it was linked in or opened privately (mpi4py).
void* symbol(const char* name) {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  void* library = dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);
  return library ? dlsym(library, name) : nullptr;
}

template <class Handle>
Handle at(const char* name) {
  return reinterpret_cast<Handle>(symbol(name));
}

Handles resolve() {
  return {at<MPI_Comm>("ompi_mpi_comm_world"),
          at<MPI_Comm>("ompi_mpi_comm_self"),
          at<MPI_Comm>("ompi_mpi_comm_null"),
          at<MPI_Datatype>("ompi_mpi_byte"),
          at<MPI_Datatype>("ompi_mpi_datatype_null"),
          at<MPI_Op>("ompi_mpi_op_max"),
          at<MPI_Op>("ompi_mpi_op_min"),
          at<MPI_Op>("ompi_mpi_op_sum"),
          at<MPI_Info>("ompi_mpi_info_null"),
          at<MPI_Request>("ompi_request_null"),
          at<MPI_File>("ompi_mpi_file_null"),
          at<MPI_Group>("ompi_mpi_group_null"),
          at<MPI_Datatype>("ompi_mpi_long_long_int"),
          at<MPI_Errhandler>("ompi_mpi_errors_return")};
}

#else

Handles resolve() {
  return {MPI_COMM_WORLD, MPI_COMM_SELF,  MPI_COMM_NULL,     MPI_BYTE,         MPI_DATATYPE_NULL,
          MPI_MAX,        MPI_MIN,        MPI_SUM,           MPI_INFO_NULL,    MPI_REQUEST_NULL,
          MPI_FILE_NULL,  MPI_GROUP_NULL, MPI_LONG_LONG_INT, MPI_ERRORS_RETURN};
}

#endif

}  // namespace

const Handles& handles() {
  static const Handles resolved = resolve();
  return resolved;
}

}  // namespace haichi::mpi
