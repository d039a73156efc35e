#include "mpi/access/access_request.h"

#include <errno.h>

#include <new>

#include "generated/real.h"
#include "mpi/communicators/argument_checks.h"
#include "mpi/types/datatype.h"
#include "mpi/types/device_memory.h"
#include "mpi/types/kept_types.h"

namespace haichi::mpi {
namespace {

Request unguarded_request_of(MPI_File file, FileState& state, const CollectiveCall& call,
                             std::string refusal) {
  Request request;
  auto refuse = [&](std::string why) {
    request.refusal = std::move(why);
    return request;
  };
  if (!refusal.empty()) return refuse(std::move(refusal));
  if (call.count < 0 || (call.offset && *call.offset < 0))
    return refuse("an argument is out of range");
  // A type that is decoded need not be committed. Named ones are.
  if (!find_named(call.type) && !usable(call.type)) return refuse("the datatype is not committed");
  const auto shape = decode_type(call.type);
  if (!shape) return refuse(shape.error().text);
  int64_t bytes, reach;
  if (__builtin_mul_overflow(call.count, shape->size(), &bytes) ||
      __builtin_mul_overflow(call.count, std::abs(shape->extent), &reach))
    return refuse("the access is larger than 64-bit numbers");
  const DecodedView& decoded = state.view.of(file);
  if (!decoded.refusal.empty()) return refuse(decoded.refusal);
  request.etype_size = decoded.etype_size;
  if (bytes % request.etype_size != 0) return refuse("the access is not a whole number of etypes");
  const auto offset = call.offset ? call.offset : state.pointer.position(file);
  if (!offset) return refuse("the MPI library does not tell the file position");
  request.position = *offset * request.etype_size;
  if (!decoded.view.sorted(request.position, request.position + bytes))
    return refuse("the view's bytes overlap or are not in ascending order");
  request.memory = mpiio::Pattern::loop(shape->pattern, call.count, shape->extent);
  request.access = mpiio::Access(decoded.view, request.position, bytes);
  if (bytes > 0 && on_device(static_cast<const std::byte*>(call.memory) + shape->pattern->begin()))
    return refuse("its memory is a device's");
  state.note_memory(*request.memory);
  return request;
}

}  // namespace

Request request_of(MPI_File file, FileState& state, const CollectiveCall& call,
                   std::string refusal) {
  Request request;
  try {
    request = unguarded_request_of(file, state, call, std::move(refusal));
  } catch (const std::bad_alloc&) {
    // Here it makes the call pass through; later it would make others wait.
    request = {};
    request.refusal = "there is not enough memory to decode the access";
  }
  if (!request.refusal.empty())
    state.runtime.note(
        fmt::format("{}: {} passed through: {}", state.path, call.name, request.refusal));
  return request;
}

Result<std::string> mode_refusal(MPI_File file, const FileState& state,
                                 mpiio::Direction direction) {
  std::string why = state.common_refusal(direction);
  if (!why.empty()) return why;
  int atomic = 0;
  if (real().File_get_atomicity(file, &atomic) != MPI_SUCCESS)
    return fail(EIO, "the MPI library does not tell the file's mode");
  return atomic ? "the file is in atomic mode" : "";
}

void move_pointer(FileState& state, const Request& request, int64_t bytes) {
  state.pointer.move_to(MPI_Offset((request.position + bytes) / request.etype_size));
}

int noted(FileState& state, const Error& error) {
  state.runtime.note(fmt::format("{}: {}", state.path, error.text));
  return error.code;
}

int noted(FileState& state, std::initializer_list<const Status*> statuses) {
  for (const Status* status : statuses)
    if (!*status) return noted(state, status->error());
  return 0;
}

int error_class_of(int code) {
  switch (code) {
    case 0:
      return MPI_SUCCESS;
    case ENOSPC:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case ENOENT:
      return MPI_ERR_NO_SUCH_FILE;
    default:
      return MPI_ERR_IO;
  }
}

}  // namespace haichi::mpi
