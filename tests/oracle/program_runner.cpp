#include "oracle/program_runner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "oracle/slow_file.h"

namespace oracle {

// Memory for `bytes`, in four pieces with gaps if that is asked for and possible.
struct Memory {
  MPI_Datatype type = MPI_BYTE;
  int64_t piece = 0, stride = 0;
  int count = 0;

  Memory(int64_t bytes, bool gaps) : count(int(bytes)) {
    if (!gaps || bytes % 4 || bytes == 0) return;
    piece = bytes / 4;
    stride = piece + 7;
    MPI_Type_vector(4, int(piece), int(stride), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    count = 1;
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (piece) MPI_Type_free(&type);
  }
  std::vector<uint8_t> spread(std::vector<uint8_t> bytes) const {
    if (!piece) return bytes;
    std::vector<uint8_t> out(size_t(4 * stride), 0xee);
    for (int64_t i = 0; i < 4; ++i)
      std::copy_n(bytes.begin() + i * piece, piece, out.begin() + i * stride);
    return out;
  }
};

namespace {

void expect_ok(int code, const std::string& what, std::vector<std::string>& problems) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  problems.push_back(what + ": " + text);
}

void expect_bytes(const MPI_Status& status, int64_t bytes, const std::string& what, bool stock,
                  std::vector<std::string>& problems) {
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (count != bytes && !stock)
    problems.push_back(what + ": the status tells of " + std::to_string(count) + " bytes, not " +
                       std::to_string(bytes));
}

std::string to_name(int index, CallKind kind) {
  return "call " + std::to_string(index) + " (" + name_of(kind) + ")";
}

std::vector<Piece> merged(const std::vector<Piece>& cells) {
  std::vector<Piece> out;
  for (const Piece& cell : cells)
    if (!out.empty() && out.back().at + out.back().length == cell.at)
      out.back().length += cell.length;
    else
      out.push_back(cell);
  return out;
}

bool regular(const std::vector<Piece>& cells) {
  if (cells.size() < 2) return false;
  const int64_t stride = cells[1].at - cells[0].at;
  for (size_t i = 1; i < cells.size(); ++i)
    if (cells[i].length != cells[0].length || cells[i].at - cells[i - 1].at != stride) return false;
  return true;
}

// The cells from `displacement` on: a tile that is repeated, a vector, or a list.
MPI_Datatype file_type(const std::vector<Piece>& cells, bool tiled, MPI_Offset& displacement) {
  MPI_Datatype type;
  displacement = 0;
  if (regular(cells)) {
    displacement = cells[0].at;
    const int64_t stride = cells[1].at - cells[0].at;
    if (tiled) {
      MPI_Datatype one;
      MPI_Type_contiguous(int(cells[0].length), MPI_BYTE, &one);
      MPI_Type_create_resized(one, 0, stride, &type);
      MPI_Type_free(&one);
    } else {
      MPI_Type_vector(int(cells.size()), int(cells[0].length), int(stride), MPI_BYTE, &type);
    }
  } else {
    std::vector<int> lengths;
    std::vector<MPI_Aint> offsets;
    for (const Piece& cell : cells) {
      lengths.push_back(int(cell.length));
      offsets.push_back(MPI_Aint(cell.at));
    }
    MPI_Type_create_hindexed(int(cells.size()), lengths.data(), offsets.data(), MPI_BYTE, &type);
  }
  MPI_Type_commit(&type);
  return type;
}

}  // namespace

ProgramComms::ProgramComms() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
}

MPI_Comm ProgramComms::of(Handle::Over over) const {
  switch (over) {
    case Handle::Over::world:
      return MPI_COMM_WORLD;
    case Handle::Over::twin:
      return twin;
    case Handle::Over::halves:
      return half;
    case Handle::Over::alone:
      break;
  }
  return MPI_COMM_SELF;
}

ProgramRunner::ProgramRunner(const Program& program, const ProgramComms& comms,
                             const ProgramRun& options, void (*note)(const char*))
    : program_(program), comms_(comms), options_(options), note_(note) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  path_ = options.directory + "/program-" + std::to_string(program.seed) + "-" +
          std::to_string(program.number) + ".dat";
}

ProgramRunner::~ProgramRunner() = default;

std::vector<std::string> ProgramRunner::run() {
  open();
  bool good = true;
  for (int i = 0; good && i < int(program_.phases.size()); ++i) good = run_phase(i);
  note_("close");
  close();
  return std::move(problems_);
}

void ProgramRunner::open() {
  note_("open");
  if (rank_ == 0) {
    model_ = std::make_unique<ProgramModel>(program_);
    std::vector<uint8_t> bytes(size_t(program_.before_bytes));
    fill_bytes(program_.before_key, 0, program_.before_bytes, bytes.data());
    const int file = ::open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0 || pwrite(file, bytes.data(), bytes.size(), 0) != ssize_t(bytes.size()))
      problems_.push_back("cannot make " + path_);
    if (file >= 0) ::close(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (const Handle& handle : program_.handles) {
    files_.push_back(MPI_FILE_NULL);
    if (handle.group_of(rank_).empty()) continue;
    MPI_Info info = MPI_INFO_NULL;
    if (!handle.hints.empty()) MPI_Info_create(&info);
    for (const auto& [key, value] : handle.hints) MPI_Info_set(info, key.c_str(), value.c_str());
    expect_ok(
        MPI_File_open(comms_.of(handle.over), path_.c_str(), MPI_MODE_RDWR, info, &files_.back()),
        "MPI_File_open", problems_);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  }
}

void ProgramRunner::close() {
  for (MPI_File& file : files_)
    if (file != MPI_FILE_NULL) expect_ok(MPI_File_close(&file), "MPI_File_close", problems_);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) unlink(path_.c_str());
}

void ProgramRunner::sync() {
  for (int round = 0; round < 2; ++round) {
    for (MPI_File file : files_)
      if (file != MPI_FILE_NULL) expect_ok(MPI_File_sync(file), "MPI_File_sync", problems_);
    if (round == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
}

bool ProgramRunner::run_phase(int index) {
  const Phase& phase = program_.phases[size_t(index)];
  set_views(phase, 0);
  slow_files_down(program_.slow_percent[size_t(rank_)], program_.slow_longest,
                  Rng::hash({program_.seed, program_.number, uint64_t(index), uint64_t(rank_)}));
  std::vector<UnderWay> mine, other;
  std::vector<std::string> others;
  std::thread second;
  if (phase.threaded())
    second = std::thread([&] {
      run_calls(phase, true, other, others);
      end_calls(phase, int(phase.calls.size()), other, others);
    });
  run_calls(phase, false, mine, problems_);
  end_calls(phase, int(phase.calls.size()), mine, problems_);
  if (second.joinable()) second.join();
  problems_.insert(problems_.end(), others.begin(), others.end());
  slow_files_down(0, 0, 0);
  note_("sync");
  sync();
  if (rank_ == 0) {
    const auto wrong = model_->check(index, content());
    for (const std::string& line : wrong)
      problems_.push_back("phase " + std::to_string(index) + ": " + line);
  }
  int bad = !problems_.empty(), any = 0;
  MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return !any;
}

void ProgramRunner::set_views(const Phase& phase, int before) {
  for (const ProgramView& view : phase.views)
    if (view.before == before && files_[size_t(view.handle)] != MPI_FILE_NULL)
      set_view(view, files_[size_t(view.handle)]);
  // Behind all of them: with ROMIO the view of another handle sets this one's pointer to 0.
  for (const ProgramView& view : phase.views)
    if (view.before == before && view.records.length) seek_shared(view);
}

void ProgramRunner::set_view(const ProgramView& view, MPI_File file) {
  note_("set_view");
  const auto cells = merged(view.cells[size_t(rank_)]);
  if (view.flat || cells.empty()) {
    expect_ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
              "MPI_File_set_view", problems_);
  } else {
    MPI_Offset displacement = 0;
    MPI_Datatype type = file_type(cells, view.tiled, displacement);
    expect_ok(MPI_File_set_view(file, displacement, MPI_BYTE, type, "native", MPI_INFO_NULL),
              "MPI_File_set_view", problems_);
    MPI_Type_free(&type);
  }
}

void ProgramRunner::seek_shared(const ProgramView& view) {
  const auto& group = program_.handles[size_t(view.handle)].groups.front();
  if (std::find(group.begin(), group.end(), rank_) == group.end()) return;
  note_("seek_shared");
  expect_ok(MPI_File_seek_shared(files_[size_t(view.handle)], view.records.at, MPI_SEEK_SET),
            "MPI_File_seek_shared", problems_);
}

void ProgramRunner::run_calls(const Phase& phase, bool in_thread, std::vector<UnderWay>& pending,
                              std::vector<std::string>& problems) {
  for (int i = 0; i < int(phase.calls.size()); ++i) {
    if (!in_thread && i > 0) set_views(phase, i);
    if (phase.calls[size_t(i)].in_thread == in_thread) run_call(phase, i, pending, problems);
    end_calls(phase, i, pending, problems);
  }
}

void ProgramRunner::run_call(const Phase& phase, int index, std::vector<UnderWay>& pending,
                             std::vector<std::string>& problems) {
  const ProgramCall& call = phase.calls[size_t(index)];
  const Part* const part = call.part_of(rank_);
  if (!part) return;
  if (part->late) usleep(useconds_t(part->late));
  const bool flat = phase.views[size_t(call.view)].flat;
  if (!call.each_cell)
    return write(phase, index, *part, 0, part->cells.size(), part->first, pending, problems);
  int64_t first = part->first;
  for (size_t i = 0; i < part->cells.size(); ++i) {
    write(phase, index, *part, i, i + 1, flat ? part->cells[i].at : first, pending, problems);
    first += part->cells[i].length;
  }
}

// The cells from..to-1 of a part by one call, `first` bytes into the view.
void ProgramRunner::write(const Phase& phase, int index, const Part& part, size_t from, size_t to,
                          int64_t first, std::vector<UnderWay>& pending,
                          std::vector<std::string>& problems) {
  const ProgramCall& call = phase.calls[size_t(index)];
  MPI_File file = files_[size_t(phase.views[size_t(call.view)].handle)];
  int64_t bytes = 0;
  for (size_t i = from; i < to; ++i) bytes += part.cells[i].length;
  std::vector<uint8_t> plain(static_cast<size_t>(bytes));
  int64_t filled = 0;
  for (size_t i = from; i < to; ++i) {
    fill_bytes(part.key, part.cells[i].at, part.cells[i].length, plain.data() + filled);
    filled += part.cells[i].length;
  }
  auto kept = std::make_unique<Memory>(bytes, call.gaps);
  const Memory& memory = *kept;
  UnderWay under{MPI_REQUEST_NULL,
                 index,
                 is_split(call.kind) ? call.end_after : part.wait_after,
                 std::move(kept),
                 memory.spread(std::move(plain)),
                 bytes};
  const void* const buffer = under.buffer.data();
  const std::string name = to_name(index, call.kind);
  note_(name.c_str());
  if (!has_offset(call.kind) && !is_at_shared(call.kind))
    expect_ok(MPI_File_seek(file, first, MPI_SEEK_SET), "MPI_File_seek", problems);
  if (is_collective(call.kind)) ++collective_calls_;
  MPI_Status status;
  int code = MPI_SUCCESS;
  switch (call.kind) {
    case CallKind::write_all:
      code = MPI_File_write_all(file, buffer, memory.count, memory.type, &status);
      break;
    case CallKind::write_at_all:
      code = MPI_File_write_at_all(file, first, buffer, memory.count, memory.type, &status);
      break;
    case CallKind::write_all_split:
      code = MPI_File_write_all_begin(file, buffer, memory.count, memory.type);
      break;
    case CallKind::write_at_all_split:
      code = MPI_File_write_at_all_begin(file, first, buffer, memory.count, memory.type);
      break;
    case CallKind::iwrite_all:
      code = MPI_File_iwrite_all(file, buffer, memory.count, memory.type, &under.request);
      break;
    case CallKind::iwrite_at_all:
      code = MPI_File_iwrite_at_all(file, first, buffer, memory.count, memory.type, &under.request);
      break;
    case CallKind::write:
      code = MPI_File_write(file, buffer, memory.count, memory.type, &status);
      break;
    case CallKind::write_at:
      code = MPI_File_write_at(file, first, buffer, memory.count, memory.type, &status);
      break;
    case CallKind::iwrite:
      code = MPI_File_iwrite(file, buffer, memory.count, memory.type, &under.request);
      break;
    case CallKind::iwrite_at:
      code = MPI_File_iwrite_at(file, first, buffer, memory.count, memory.type, &under.request);
      break;
    case CallKind::write_shared:
      code = MPI_File_write_shared(file, buffer, memory.count, memory.type, &status);
      break;
    case CallKind::write_ordered:
      code = MPI_File_write_ordered(file, buffer, memory.count, memory.type, &status);
      break;
  }
  expect_ok(code, name, problems);
  if (is_split(call.kind) || is_nonblocking(call.kind))
    pending.push_back(std::move(under));
  else if (code == MPI_SUCCESS)
    expect_bytes(status, bytes, name, options_.stock, problems);
}

void ProgramRunner::end_calls(const Phase& phase, int behind, std::vector<UnderWay>& pending,
                              std::vector<std::string>& problems) {
  for (UnderWay& under : pending) {
    if (under.until > behind) continue;
    const ProgramCall& call = phase.calls[size_t(under.call)];
    MPI_File file = files_[size_t(phase.views[size_t(call.view)].handle)];
    const std::string name = "end of " + to_name(under.call, call.kind);
    note_(name.c_str());
    MPI_Status status;
    const void* const buffer = under.buffer.data();
    const int code = call.kind == CallKind::write_all_split
                         ? MPI_File_write_all_end(file, buffer, &status)
                     : call.kind == CallKind::write_at_all_split
                         ? MPI_File_write_at_all_end(file, buffer, &status)
                         : MPI_Wait(&under.request, &status);
    expect_ok(code, name, problems);
    if (code == MPI_SUCCESS) expect_bytes(status, under.bytes, name, options_.stock, problems);
  }
  std::erase_if(pending, [&](const UnderWay& under) { return under.until <= behind; });
}

std::vector<uint8_t> ProgramRunner::content() const {
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about = {};
  if (file < 0 || fstat(file, &about) != 0) return {};
  std::vector<uint8_t> out(size_t(about.st_size));
  const ssize_t got = pread(file, out.data(), out.size(), 0);
  out.resize(size_t(std::max<ssize_t>(got, 0)));
  ::close(file);
  return out;
}

}  // namespace oracle
