// Every data access of MPI-IO: explicit offsets, individual and shared pointers, blocking,
// nonblocking and split, by one rank or all. Each rank has its part of the file at its rank times
// the bytes, the same in every sample, so what is timed is the library and the page cache (hot).
#include "measure/case/case.h"
#include "measure/suite/groups.h"
#include "measure/suite/scratch_file.h"

namespace haichi::measure {
namespace {

struct Arguments {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_File file = MPI_FILE_NULL;
  MPI_Offset offset;
  char* memory;
  int count;
};

using A = const Arguments&;
using R = MPI_Request*;

// The forms that MPI's data accesses have.
template <auto call>
int at(A a) {
  return call(a.file, a.offset, a.memory, a.count, MPI_BYTE, MPI_STATUS_IGNORE);
}
template <auto call>
int pointer(A a) {
  return call(a.file, a.memory, a.count, MPI_BYTE, MPI_STATUS_IGNORE);
}
template <auto call>
int request_at(A a, R r) {
  return call(a.file, a.offset, a.memory, a.count, MPI_BYTE, r);
}
template <auto call>
int request_pointer(A a, R r) {
  return call(a.file, a.memory, a.count, MPI_BYTE, r);
}
template <auto call>
int begin_at(A a) {
  return call(a.file, a.offset, a.memory, a.count, MPI_BYTE);
}
template <auto call>
int begin_pointer(A a) {
  return call(a.file, a.memory, a.count, MPI_BYTE);
}
template <auto call>
int end(A a) {
  return call(a.file, a.memory, MPI_STATUS_IGNORE);
}

enum class Pointer { none, individual, shared };

struct Blocking {
  const char* function;  // without "MPI_"
  Pointer moves;
  int (*call)(A);
};

const Blocking kBlocking[] = {
    {"File_write_at", Pointer::none, at<MPI_File_write_at>},
    {"File_read_at", Pointer::none, at<MPI_File_read_at>},
    {"File_write_at_all", Pointer::none, at<MPI_File_write_at_all>},
    {"File_read_at_all", Pointer::none, at<MPI_File_read_at_all>},
    {"File_write", Pointer::individual, pointer<MPI_File_write>},
    {"File_read", Pointer::individual, pointer<MPI_File_read>},
    {"File_write_all", Pointer::individual, pointer<MPI_File_write_all>},
    {"File_read_all", Pointer::individual, pointer<MPI_File_read_all>},
    {"File_write_shared", Pointer::shared, pointer<MPI_File_write_shared>},
    {"File_read_shared", Pointer::shared, pointer<MPI_File_read_shared>},
    {"File_write_ordered", Pointer::shared, pointer<MPI_File_write_ordered>},
    {"File_read_ordered", Pointer::shared, pointer<MPI_File_read_ordered>},
};

struct Nonblocking {
  const char* function;
  Pointer moves;
  int (*call)(A, R);
};

const Nonblocking kNonblocking[] = {
    {"File_iwrite_at", Pointer::none, request_at<MPI_File_iwrite_at>},
    {"File_iread_at", Pointer::none, request_at<MPI_File_iread_at>},
    {"File_iwrite_at_all", Pointer::none, request_at<MPI_File_iwrite_at_all>},
    {"File_iread_at_all", Pointer::none, request_at<MPI_File_iread_at_all>},
    {"File_iwrite", Pointer::individual, request_pointer<MPI_File_iwrite>},
    {"File_iread", Pointer::individual, request_pointer<MPI_File_iread>},
    {"File_iwrite_all", Pointer::individual, request_pointer<MPI_File_iwrite_all>},
    {"File_iread_all", Pointer::individual, request_pointer<MPI_File_iread_all>},
    {"File_iwrite_shared", Pointer::shared, request_pointer<MPI_File_iwrite_shared>},
    {"File_iread_shared", Pointer::shared, request_pointer<MPI_File_iread_shared>},
};

struct Split {
  const char* function;  // of both: with _begin and _end behind it
  Pointer moves;
  int (*begin)(A);
  int (*end)(A);
};

const Split kSplit[] = {
    {"File_write_at_all", Pointer::none, begin_at<MPI_File_write_at_all_begin>,
     end<MPI_File_write_at_all_end>},
    {"File_read_at_all", Pointer::none, begin_at<MPI_File_read_at_all_begin>,
     end<MPI_File_read_at_all_end>},
    {"File_write_all", Pointer::individual, begin_pointer<MPI_File_write_all_begin>,
     end<MPI_File_write_all_end>},
    {"File_read_all", Pointer::individual, begin_pointer<MPI_File_read_all_begin>,
     end<MPI_File_read_all_end>},
    {"File_write_ordered", Pointer::shared, begin_pointer<MPI_File_write_ordered_begin>,
     end<MPI_File_write_ordered_end>},
    {"File_read_ordered", Pointer::shared, begin_pointer<MPI_File_read_ordered_begin>,
     end<MPI_File_read_ordered_end>},
};

Arguments arguments_of(Case& c, Pointer moves) {
  if (moves == Pointer::shared) need_locks(c);
  Arguments a;
  a.comm = c.comm;
  a.offset = c.rank * c.bytes;
  a.memory = c.memory(c.bytes);
  a.count = c.count();
  a.file = scratch_file(c);
  fill(c, a.file, a.offset, a.memory, a.count);
  return a;
}

// Puts the pointer where it was before the last sample; null where the access moves none.
std::function<void()> rewinding(A a, Pointer moves) {
  const MPI_Comm comm = a.comm;
  const MPI_File file = a.file;
  const MPI_Offset offset = a.offset;
  if (moves == Pointer::individual) return [=] { must(MPI_File_seek(file, offset, MPI_SEEK_SET)); };
  // Setting the shared pointer need not wait for ranks that are still to move it in the last
  // sample.
  if (moves == Pointer::shared)
    return [=] {
      must(MPI_Barrier(comm));
      must(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    };
  return {};
}

// "file-write-at" of File_write_at.
std::string name_of(std::string function) {
  for (char& letter : function) {
    if (letter == '_') letter = '-';
    if (letter == 'F') letter = 'f';
  }
  return function;
}

Measurement entry(std::string name, std::vector<std::string> functions, std::string timed) {
  Measurement one = {.name = std::move(name),
                     .group = "file",
                     .functions = std::move(functions),
                     .section = "14.4",
                     .timed = std::move(timed),
                     .sample = "the call on all ranks, begun behind a barrier",
                     .buffers =
                         "the rank's own part of a file and its memory, the same each time: "
                         "in the page cache",
                     .sizes = kAccesses};
  return one;
}

void add(const Blocking& row, std::vector<Measurement>& all) {
  Measurement one =
      entry(name_of(row.function), {std::string("MPI_") + row.function}, row.function);
  one.make = [row](Case& c) {
    const Arguments a = arguments_of(c, row.moves);
    return Body{.call = [=] { must(row.call(a)); }, .before = rewinding(a, row.moves)};
  };
  all.push_back(std::move(one));
}

enum class Timed { both, first, second };

// Two calls, of which both or one is timed.
Body two_calls(Timed timed, std::function<void()> first, std::function<void()> second,
               std::function<void()> rewind) {
  if (timed == Timed::first) return {.call = std::move(first), .before = rewind, .after = second};
  if (timed == Timed::second)
    return {.call = std::move(second), .before = [=] {
              if (rewind) rewind();
              first();
            }};
  return {.call =
              [=] {
                first();
                second();
              },
          .before = rewind};
}

void add(const Nonblocking& row, std::vector<Measurement>& all) {
  const std::string function = row.function;
  const auto make = [row](Timed timed) {
    return [row, timed](Case& c) {
      const Arguments a = arguments_of(c, row.moves);
      MPI_Request* const request = c.requests(1);
      return two_calls(
          timed, [=] { must(row.call(a, request)); },
          [=] { must(MPI_Wait(request, MPI_STATUS_IGNORE)); }, rewinding(a, row.moves));
    };
  };
  Measurement whole = entry(name_of(function), {"MPI_" + function}, function + ", Wait");
  Measurement issue =
      entry(name_of(function) + "-issue", {"MPI_" + function}, function + "; Wait is not timed");
  Measurement wait = entry(name_of(function) + "-wait", {"MPI_" + function},
                           "Wait; " + function + " is not timed");
  whole.make = make(Timed::both);
  issue.make = make(Timed::first);
  wait.make = make(Timed::second);
  for (Measurement* each : {&whole, &issue, &wait}) all.push_back(std::move(*each));
}

void add(const Split& row, std::vector<Measurement>& all) {
  const std::string begins = std::string(row.function) + "_begin";
  const std::string ends = std::string(row.function) + "_end";
  const auto make = [row](Timed timed) {
    return [row, timed](Case& c) {
      const Arguments a = arguments_of(c, row.moves);
      return two_calls(
          timed, [=] { must(row.begin(a)); }, [=] { must(row.end(a)); }, rewinding(a, row.moves));
    };
  };
  Measurement whole = entry(name_of(row.function) + "-split", {"MPI_" + begins, "MPI_" + ends},
                            begins + ", " + ends);
  Measurement begin = entry(name_of(begins), {"MPI_" + begins}, begins + "; _end is not timed");
  Measurement end = entry(name_of(ends), {"MPI_" + ends}, ends + "; _begin is not timed");
  whole.make = make(Timed::both);
  begin.make = make(Timed::first);
  end.make = make(Timed::second);
  for (Measurement* each : {&whole, &begin, &end}) all.push_back(std::move(*each));
}

}  // namespace

std::vector<Measurement> file_accesses() {
  std::vector<Measurement> all;
  for (const Blocking& row : kBlocking) add(row, all);
  for (const Nonblocking& row : kNonblocking) add(row, all);
  for (const Split& row : kSplit) add(row, all);
  return all;
}

}  // namespace haichi::measure
