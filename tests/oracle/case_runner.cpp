#include "oracle/case_runner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "oracle/mpi_type.h"

namespace oracle {
namespace {

// True if MPI_Get_elements can be asked: MPICH 4.0.2 counts wrong or divides by zero in structures
// and in types of pairs, and aborts on arrays and on types made of F90 types.
bool countable(const Type& type) {
  const Type* leaf = &type;
  while (!leaf->children.empty()) leaf = leaf->children.front().get();
  if (leaf->kind != Kind::named || is_pair(leaf->named)) return false;
  const auto same = [&](const auto& self, const Type& node) -> bool {
    if (node.children.empty()) return node.kind == Kind::named && node.named == leaf->named;
    return node.kind != Kind::structure && node.kind != Kind::subarray &&
           node.kind != Kind::darray &&
           std::all_of(node.children.begin(), node.children.end(),
                       [&](const TypePtr& child) { return self(self, *child); });
  };
  return same(same, type);
}

int whence_of(const Seek& seek) {
  return seek.whence == Seek::Whence::set   ? MPI_SEEK_SET
         : seek.whence == Seek::Whence::cur ? MPI_SEEK_CUR
                                            : MPI_SEEK_END;
}

}  // namespace

// The memory of one call: the bytes of the type with guard bytes around them, filled with a
// pattern, so that any byte that changes where it should not is seen.
struct CaseRunner::Buffer {
  static constexpr int64_t kGuard = 64;

  Buffer(const Call& call, uint64_t key)
      : map(call.type->map, call.count), handle(make_mpi_type(*call.type)), type(call.type) {
    bytes.resize(size_t(map.high() - map.low() + 2 * kGuard));
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(key, int64_t(i) - kGuard);
    original = bytes;
    address = bytes.data() + kGuard - map.low();
    count = int(call.count);
    if (call.bottom) {
      // The same items at an absolute address: one item of a type that holds them all.
      MPI_Aint at = 0;
      MPI_Get_address(address, &at);
      MPI_Type_create_hindexed(1, &count, &at, handle, &absolute);
      MPI_Type_commit(&absolute);
      address = MPI_BOTTOM;
      count = 1;
    }
  }
  ~Buffer() {
    if (absolute != MPI_DATATYPE_NULL) MPI_Type_free(&absolute);
    free_mpi_type(*type, handle);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  MPI_Datatype passed() const { return absolute != MPI_DATATYPE_NULL ? absolute : handle; }
  size_t index(int64_t at) const { return size_t(at - map.low() + kGuard); }

  MemoryMap map;
  MPI_Datatype handle, absolute = MPI_DATATYPE_NULL;
  TypePtr type;
  std::vector<uint8_t> bytes, original;
  void* address;
  int count;
};

CaseRunner::CaseRunner(const Plan& plan, MPI_Comm comm, const RunOptions& options,
                       Progress progress)
    : plan_(plan), comm_(comm), options_(options), progress_(progress), model_(plan) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  // A name per world rank of the first member: several cases may run side by side.
  path_ = options.directory + "/oracle." + std::to_string(plan.seed) + "." +
          std::to_string(plan.number) + ".dat";
  view_ = default_view(plan, rank_);
}

template <class... Args>
void CaseRunner::wrong(const char* format, Args... args) {
  char text[600];
  if constexpr (sizeof...(args) == 0)
    std::snprintf(text, sizeof text, "%s", format);
  else
    std::snprintf(text, sizeof text, format, args...);
  problems_.push_back("rank " + std::to_string(rank_) + ", " + where_ + ": " + text);
}

bool CaseRunner::ok(int code, const char* call) {
  if (code == MPI_SUCCESS) return true;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0, error_class = 0;
  MPI_Error_string(code, text, &length);
  MPI_Error_class(code, &error_class);
  wrong("%s gave error class %d: %s", call, error_class, text);
  return false;
}

int64_t CaseRunner::file_size() const {
  struct stat status;
  return fstat(descriptor_, &status) == 0 ? int64_t(status.st_size) : -1;
}

std::vector<uint8_t> CaseRunner::file_content(int64_t size) const {
  std::vector<uint8_t> content(size_t(std::max<int64_t>(0, size - plan_.base)));
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t got =
        pread(descriptor_, content.data() + done, content.size() - done, plan_.base + off_t(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += size_t(got);
  }
  return content;
}

std::vector<std::string> CaseRunner::run() {
  if (open()) {
    for (const Step& next : plan_.steps) {
      step(next);
      if (!settle(next)) break;
    }
    close();
  }
  return problems_;
}

bool CaseRunner::open() {
  where_ = "open";
  progress_("open");
  const bool create = plan_.mode == Mode::create_rdwr || plan_.mode == Mode::create_wronly;
  if (rank_ == 0) {
    ::unlink(path_.c_str());
    if (!create) {
      std::vector<uint8_t> bytes(size_t(plan_.prefill_bytes));
      const uint64_t key = prefill_key(plan_);
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(key, int64_t(i));
      const int made = ::open(path_.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
      if (made < 0 || pwrite(made, bytes.data(), bytes.size(), plan_.base) != ssize_t(bytes.size()))
        wrong("cannot prepare %s: %s", path_.c_str(), std::strerror(errno));
      ::close(made);
    }
  }
  MPI_Barrier(comm_);
  MPI_Info info;
  MPI_Info_create(&info);
  for (const auto& [key, value] : plan_.hints) MPI_Info_set(info, key.c_str(), value.c_str());
  int amode = plan_.mode == Mode::rdonly ? MPI_MODE_RDONLY
              : plan_.readable()         ? MPI_MODE_RDWR
                                         : MPI_MODE_WRONLY;
  if (create) amode |= MPI_MODE_CREATE;
  const int code = MPI_File_open(comm_, path_.c_str(), amode, info, &file_);
  MPI_Info_free(&info);
  int good = ok(code, "MPI_File_open"), all = 0;
  if (good) descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (good && descriptor_ < 0) wrong("cannot open %s: %s", path_.c_str(), std::strerror(errno));
  good = good && descriptor_ >= 0;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, comm_);
  if (!all && file_ != MPI_FILE_NULL) close();
  return all;
}

void CaseRunner::close() {
  where_ = "close";
  progress_("close");
  ok(MPI_File_close(&file_), "MPI_File_close");
  if (file_ != MPI_FILE_NULL) wrong("MPI_File_close left the handle set");
  if (rank_ == 0 && descriptor_ >= 0) {
    if (problems_.empty()) check_file(false);
    ::unlink(path_.c_str());
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

void CaseRunner::step(const Step& next) {
  where_ = "step " + std::to_string(next.id) + " " + name_of(next.kind);
  progress_(where_.c_str());
  switch (next.kind) {
    case StepKind::set_view:
      return set_view(next);
    case StepKind::seek:
      return seek(next);
    case StepKind::seek_shared:
      return seek_shared(next);
    case StepKind::sync:
      return sync();
    default:
      return access(next);
  }
}

void CaseRunner::set_view(const Step& step) {
  if (rank_ == 0) {
    model_.set_view(step);
    view_ = model_.view(0);
  } else {
    view_ = make_view(plan_, step, rank_);
  }
  MPI_Datatype etype = make_mpi_type(*view_.etype), filetype = make_mpi_type(*view_.filetype);
  ok(MPI_File_set_view(file_, MPI_Offset(view_.displacement), etype, filetype, "native",
                       MPI_INFO_NULL),
     "MPI_File_set_view");
  // The view keeps what it needs.
  free_mpi_type(*view_.etype, etype);
  free_mpi_type(*view_.filetype, filetype);
  position_ = shared_ = 0;
}

void CaseRunner::seek(const Step& step) {
  const int64_t size = file_size();
  const Seek seek = make_seek(plan_, step, rank_, view_, position_, size);
  position_ = seek_target(seek, view_, position_, size);
  if (rank_ == 0) model_.seek(step);
  ok(MPI_File_seek(file_, MPI_Offset(seek.offset), whence_of(seek)), "MPI_File_seek");
}

void CaseRunner::seek_shared(const Step& step) {
  const int64_t size = file_size();
  const Seek seek = make_shared_seek(plan_, step, view_, shared_, size);
  shared_ = seek_target(seek, view_, shared_, size);
  if (rank_ == 0) model_.seek(step);
  ok(MPI_File_seek_shared(file_, MPI_Offset(seek.offset), whence_of(seek)), "MPI_File_seek_shared");
}

void CaseRunner::sync() {
  ok(MPI_File_sync(file_), "MPI_File_sync");
  MPI_Barrier(comm_);
  ok(MPI_File_sync(file_), "MPI_File_sync");
}

// Ends a step: file pointers are exchanged (some the standard leaves open), rank 0 compares the
// file, and all learn whether to go on.
bool CaseRunner::settle(const Step& step) {
  if (plan_.shared) check_shared_position();
  MPI_Offset actual = -1;
  if (problems_.empty() && ok(MPI_File_get_position(file_, &actual), "MPI_File_get_position")) {
    if (step.kind <= StepKind::sync && actual != MPI_Offset(position_))
      wrong("the file pointer is %lld and should be %lld", (long long)actual, (long long)position_);
    position_ = actual;
  }
  int64_t mine[2] = {int64_t(problems_.size()), position_};
  std::vector<int64_t> all(size_t(2 * ranks_));
  MPI_Allgather(mine, 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, comm_);
  int64_t bad = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    bad += all[size_t(2 * rank)];
    if (rank_ == 0) model_.positions()[size_t(rank)] = all[size_t(2 * rank + 1)];
  }
  if (is_write(step.kind)) {
    if (rank_ == 0) check_file(lax(step));
    int64_t found = int64_t(problems_.size());
    MPI_Bcast(&found, 1, MPI_INT64_T, 0, comm_);
    bad += found;
  }
  return bad == 0;
}

// All ranks have done their part: who looks earlier may see the pointer on its way.
void CaseRunner::check_shared_position() {
  MPI_Barrier(comm_);
  MPI_Offset actual = -1;
  if (problems_.empty() &&
      ok(MPI_File_get_position_shared(file_, &actual), "MPI_File_get_position_shared") &&
      actual != MPI_Offset(shared_))
    wrong("the shared file pointer is %lld and should be %lld", (long long)actual,
          (long long)shared_);
}

bool CaseRunner::lax(const Step& step) const {
  return options_.stock || !is_collective(step.kind) || ranks_ == 1;
}

void CaseRunner::check_file(bool lax_holes) {
  const int64_t size = file_size();
  if (auto problem = model_.file().check(size, file_content(size), lax_holes))
    wrong("%s", problem->c_str());
  if (file_ == MPI_FILE_NULL) return;
  MPI_Offset told = -1;
  if (ok(MPI_File_get_size(file_, &told), "MPI_File_get_size") && told != MPI_Offset(size))
    wrong("MPI_File_get_size gives %lld for a file of %lld bytes", (long long)told,
          (long long)size);
}

void CaseRunner::access(const Step& step) {
  const int64_t size = file_size();
  const bool shared = is_at_shared(step.kind);
  Call call = make_call(plan_, step, rank_, view_, shared ? shared_ : position_, size);
  if (rank_ == 0) model_.access(step, model_.calls(step));
  if (shared) shared_ += share_out(call);
  collective_calls_ += is_collective(step.kind);

  const ViewMap view = view_.map();
  Buffer buffer(call, buffer_key(plan_, step, rank_));
  const int64_t wanted = buffer.map.bytes(), from = call.offset * view.etype_size();
  const std::vector<Piece> pieces = view.pieces(from, wanted);
  std::vector<uint8_t> before;
  int64_t bytes = wanted;
  if (is_read(step.kind)) {
    before = file_content(size);
    bytes = std::clamp<int64_t>(view.bytes_below(size) - from, 0, wanted);
    MPI_Barrier(comm_);
  }
  MPI_Status status;
  std::memset(&status, 0x5a, sizeof status);
  MPI_Status* const told = call.ignore_status ? MPI_STATUS_IGNORE : &status;
  int code = MPI_SUCCESS;
  if (is_independent(step.kind)) {
    // In turn: Open MPI 4.1.4 reads, changes and writes back bytes of others without a lock.
    for (int rank = 0; rank < ranks_; ++rank) {
      MPI_Barrier(comm_);
      if (rank == rank_) code = call_mpi(step, call, buffer, told);
    }
  } else {
    code = call_mpi(step, call, buffer, told);
  }
  if (!ok(code, name_of(step.kind))) return;
  if (!call.ignore_status) check_status(step, call, status, bytes, buffer);
  check_position(step, call, bytes);
  if (is_read(step.kind))
    check_read(step, call, buffer, pieces, before, bytes);
  else if (buffer.bytes != buffer.original)
    wrong("the buffer of a write was changed");
}

// Puts this rank's part of an access at the shared file pointer behind those of the ranks before.
// Returns the etypes of all parts.
int64_t CaseRunner::share_out(Call& call) {
  const int64_t mine = etypes_of(call, view_);
  std::vector<int64_t> all(size_t(ranks_), 0);
  MPI_Allgather(&mine, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, comm_);
  call.offset += std::accumulate(all.begin(), all.begin() + rank_, int64_t{0});
  return std::accumulate(all.begin(), all.end(), int64_t{0});
}

int CaseRunner::begin_nonblocking(const Step& step, const Call& call, Buffer& buffer,
                                  MPI_Request* request) {
  void* at = buffer.address;
  const int count = buffer.count;
  const MPI_Datatype type = buffer.passed();
  const MPI_Offset offset = MPI_Offset(call.offset);
  switch (step.kind) {
    case StepKind::iwrite_all:
      return MPI_File_iwrite_all(file_, at, count, type, request);
    case StepKind::iwrite_at_all:
      return MPI_File_iwrite_at_all(file_, offset, at, count, type, request);
    case StepKind::iread_all:
      return MPI_File_iread_all(file_, at, count, type, request);
    default:
      return MPI_File_iread_at_all(file_, offset, at, count, type, request);
  }
}

// In one of the ways in which a program may wait for it.
int CaseRunner::complete(const Step& step, int code, MPI_Request request, MPI_Status* status) {
  if (code != MPI_SUCCESS) return code;
  if (step.id % 2 == 0) {
    code = MPI_Wait(&request, status);
  } else {
    for (int done = 0; !done && code == MPI_SUCCESS;) code = MPI_Test(&request, &done, status);
  }
  if (request != MPI_REQUEST_NULL) wrong("the request is still there");
  return code;
}

int CaseRunner::call_mpi(const Step& step, const Call& call, Buffer& buffer, MPI_Status* status) {
  void* at = buffer.address;
  const int count = buffer.count;
  const MPI_Datatype type = buffer.passed();
  const MPI_Offset offset = MPI_Offset(call.offset);
  int code = MPI_SUCCESS;
  switch (step.kind) {
    case StepKind::write_all:
      return MPI_File_write_all(file_, at, count, type, status);
    case StepKind::write_at_all:
      return MPI_File_write_at_all(file_, offset, at, count, type, status);
    case StepKind::read_all:
      return MPI_File_read_all(file_, at, count, type, status);
    case StepKind::read_at_all:
      return MPI_File_read_at_all(file_, offset, at, count, type, status);
    case StepKind::write:
      return MPI_File_write(file_, at, count, type, status);
    case StepKind::write_at:
      return MPI_File_write_at(file_, offset, at, count, type, status);
    case StepKind::read:
      return MPI_File_read(file_, at, count, type, status);
    case StepKind::read_at:
      return MPI_File_read_at(file_, offset, at, count, type, status);
    case StepKind::write_shared:
      return MPI_File_write_shared(file_, at, count, type, status);
    case StepKind::read_shared:
      return MPI_File_read_shared(file_, at, count, type, status);
    case StepKind::write_ordered:
      return MPI_File_write_ordered(file_, at, count, type, status);
    case StepKind::read_ordered:
      return MPI_File_read_ordered(file_, at, count, type, status);
    case StepKind::write_ordered_split:
      code = MPI_File_write_ordered_begin(file_, at, count, type);
      return code == MPI_SUCCESS ? MPI_File_write_ordered_end(file_, at, status) : code;
    case StepKind::read_ordered_split:
      code = MPI_File_read_ordered_begin(file_, at, count, type);
      return code == MPI_SUCCESS ? MPI_File_read_ordered_end(file_, at, status) : code;
    case StepKind::write_all_split:
      code = MPI_File_write_all_begin(file_, at, count, type);
      return code == MPI_SUCCESS ? MPI_File_write_all_end(file_, at, status) : code;
    case StepKind::write_at_all_split:
      code = MPI_File_write_at_all_begin(file_, offset, at, count, type);
      return code == MPI_SUCCESS ? MPI_File_write_at_all_end(file_, at, status) : code;
    case StepKind::read_all_split:
      code = MPI_File_read_all_begin(file_, at, count, type);
      return code == MPI_SUCCESS ? MPI_File_read_all_end(file_, at, status) : code;
    case StepKind::read_at_all_split:
      code = MPI_File_read_at_all_begin(file_, offset, at, count, type);
      return code == MPI_SUCCESS ? MPI_File_read_at_all_end(file_, at, status) : code;
    default: {
      MPI_Request request = MPI_REQUEST_NULL;
      code = begin_nonblocking(step, call, buffer, &request);
      return complete(step, code, request, status);
    }
  }
}

// `bytes` were moved. MPI_Get_count and MPI_Get_elements give undefined where that
// is no whole number of items or elements.
void CaseRunner::check_status(const Step& step, const Call& call, MPI_Status& status, int64_t bytes,
                              const Buffer& buffer) {
  const auto& basics = call.type->map.basics;
  const bool absolute = buffer.absolute != MPI_DATATYPE_NULL;
  const int64_t item = call.type->map.size() * (absolute ? call.count : 1);
  const bool alike = countable(*call.type) && !basics.empty();
  // ROMIO leaves the status of an empty type unset.
  if (item == 0 && lax(step)) return;
  int moved = -1, count = -1, elements = -1;
  MPI_Count elements_x = -1;
  MPI_Get_elements(&status, MPI_BYTE, &moved);
  MPI_Get_count(&status, buffer.passed(), &count);
  if (item > 0 && alike) {
    MPI_Get_elements(&status, buffer.passed(), &elements);
    MPI_Get_elements_x(&status, buffer.passed(), &elements_x);
  }
  const auto matches = [&](int64_t right) {
    if (moved != right) return false;
    if (count != (item == 0 ? 0 : right % item == 0 ? right / item : int64_t{MPI_UNDEFINED}))
      return false;
    if (item == 0 || !alike) return true;
    const int64_t size = basics.front().size;
    const bool undefined = elements == MPI_UNDEFINED && elements_x == MPI_UNDEFINED;
    return (elements == right / size && elements_x == elements) || (right % size != 0 && undefined);
  };
  const int64_t wanted = buffer.map.bytes();
  if (matches(bytes) || (lax(step) && matches(wanted))) return;
  wrong(
      "%lld of %lld bytes were there to move in items of %lld, but the status gives %d bytes, "
      "count %d, elements %d and %lld",
      (long long)bytes, (long long)wanted, (long long)item, moved, count, elements,
      (long long)elements_x);
}

void CaseRunner::check_read(const Step& step, const Call& call, const Buffer& buffer,
                            const std::vector<Piece>& pieces, const std::vector<uint8_t>& before,
                            int64_t bytes) {
  std::vector<uint8_t> expected = buffer.original;
  std::vector<uint8_t> stream;
  stream.reserve(size_t(bytes));
  for (const Piece& piece : pieces)
    for (int64_t i = 0; i < piece.length && int64_t(stream.size()) < bytes; ++i)
      stream.push_back(before[size_t(piece.at - plan_.base + i)]);
  size_t next = 0;
  for (const Piece& piece : buffer.map.pieces())
    for (int64_t i = 0; i < piece.length; ++i, ++next) {
      uint8_t& place = expected[buffer.index(piece.at + i)];
      if (next < stream.size())
        place = stream[next];
      else if (lax(step))
        place = buffer.bytes[buffer.index(piece.at + i)];
    }
  if (expected == buffer.bytes) return;
  int64_t differ = 0, first = -1;
  for (size_t i = 0; i < expected.size(); ++i)
    if (expected[i] != buffer.bytes[i] && differ++ == 0)
      first = int64_t(i) - Buffer::kGuard + buffer.map.low();
  const auto inside = [&](const Piece& piece) {
    return first >= piece.at && first < piece.at + piece.length;
  };
  const auto& all = buffer.map.pieces();
  wrong(
      "%lld bytes of the buffer are wrong; the first, at displacement %lld (%s), is 0x%02x and "
      "should be 0x%02x (%lld of %lld bytes were there to read, at etype %lld)",
      (long long)differ, (long long)first,
      std::any_of(all.begin(), all.end(), inside) ? "data" : "outside of the type",
      buffer.bytes[buffer.index(first)], expected[buffer.index(first)], (long long)bytes,
      (long long)buffer.map.bytes(), (long long)call.offset);
}

// new offset = old offset + elements(datatype) / elements(etype) * count (14.4.1). Of a read across
// the end of the file, that of what was asked for or that of what was there.
void CaseRunner::check_position(const Step& step, const Call& call, int64_t bytes) {
  MPI_Offset actual = -1;
  if (!ok(MPI_File_get_position(file_, &actual), "MPI_File_get_position")) return;
  if (has_offset(step.kind) || is_at_shared(step.kind)) {
    if (actual != MPI_Offset(position_))
      wrong("a call at another offset moved the file pointer from %lld to %lld",
            (long long)position_, (long long)actual);
    return;
  }
  const int64_t etype = view_.etype->map.size();
  const int64_t full = position_ + call.count * call.type->map.size() / etype;
  const int64_t whole = position_ + bytes / etype, begun = position_ + (bytes + etype - 1) / etype;
  if (actual != full && actual != whole && actual != begun)
    wrong("the file pointer is %lld after %lld; it should be %lld%s", (long long)actual,
          (long long)position_, (long long)full,
          whole == full ? "" : (" or, for what was read, " + std::to_string(whole)).c_str());
  position_ = actual;
}

}  // namespace oracle
