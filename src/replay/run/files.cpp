#include "replay/run/files.h"

#include <fmt/format.h>

#include <algorithm>

#include "replay/run/must.h"

namespace haichi::replay {

using record::Event;

Files::Files(const Amounts& amounts, std::string path, int64_t largest)
    : amounts_(amounts), path_(std::move(path)), largest_(amounts.unit(largest).whole(largest)) {}

void Files::play(const Event& event, const Function& function, const Comm& comm, Room& room) {
  if (function.file_call == FileCall::open) return open(event, comm);
  const auto found = files_.find(event.file);
  if (found == files_.end()) return;
  switch (function.file_call) {
    case FileCall::close:
      must(MPI_File_close(&found->second));
      files_.erase(found);
      opened_.erase(std::find(opened_.begin(), opened_.end(), event.file));
      return;
    case FileCall::set_view:
      return must(MPI_File_set_view(found->second, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    case FileCall::set_size:
      return must(MPI_File_set_size(found->second, MPI_Offset(largest_) * comm.size));
    case FileCall::sync:
      return must(MPI_File_sync(found->second));
    default:
      return access(found->second, event, function, comm, room);
  }
}

void Files::open(const Event& event, const Comm& comm) {
  if (files_.contains(event.file)) return;
  const std::string name = fmt::format("{}-{}-{}", path_, event.file, comm.recorded->id);
  MPI_File file;
  must(MPI_File_open(comm.handle, name.c_str(),
                     MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file));
  must(MPI_File_set_size(file, MPI_Offset(largest_) * comm.size));
  files_.emplace(event.file, file);
  opened_.push_back(event.file);
}

void Files::access(MPI_File file, const Event& event, const Function& function, const Comm& comm,
                   Room& room) {
  const int64_t bytes = std::max<int64_t>(event.bytes, 0);
  const auto unit = amounts_.unit(bytes);
  const int n = unit.count(bytes);
  const MPI_Offset at = MPI_Offset(largest_) * comm.rank;
  char* const data = room.out(unit.whole(bytes));
  const bool asks = function.form == Form::nonblocking;
  MPI_Request* const request = &room.request;
  switch (function.file_call) {
    case FileCall::read:
      return must(asks ? MPI_File_iread_at(file, at, data, n, unit.type, request)
                       : MPI_File_read_at(file, at, data, n, unit.type, MPI_STATUS_IGNORE));
    case FileCall::write:
      return must(asks ? MPI_File_iwrite_at(file, at, data, n, unit.type, request)
                       : MPI_File_write_at(file, at, data, n, unit.type, MPI_STATUS_IGNORE));
    case FileCall::read_all:
      return must(asks ? MPI_File_iread_at_all(file, at, data, n, unit.type, request)
                       : MPI_File_read_at_all(file, at, data, n, unit.type, MPI_STATUS_IGNORE));
    default:
      return must(asks ? MPI_File_iwrite_at_all(file, at, data, n, unit.type, request)
                       : MPI_File_write_at_all(file, at, data, n, unit.type, MPI_STATUS_IGNORE));
  }
}

void Files::finish() {
  for (; !opened_.empty(); opened_.pop_back()) must(MPI_File_close(&files_.at(opened_.back())));
  files_.clear();
}

}  // namespace haichi::replay
