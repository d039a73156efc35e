// What is done with files besides reading and writing: open, close, views, pointers, sizes, sync.
#include "measure/case/case.h"
#include "measure/suite/groups.h"
#include "measure/suite/scratch_file.h"

namespace haichi::measure {
namespace {

constexpr const char* kOnAll = "the call on all ranks, begun behind a barrier";
constexpr const char* kAlone = "the call on each rank by itself";

Measurement entry(std::string name, std::vector<std::string> functions, std::string section,
                  std::string timed, std::function<Body(Case&)> make) {
  return {.name = std::move(name),
          .group = "file-handling",
          .functions = std::move(functions),
          .section = std::move(section),
          .timed = std::move(timed),
          .sample = kOnAll,
          .buffers = "one file",
          .make = std::move(make)};
}

// A call on an open file, without size.
Measurement on_file(std::string name, std::vector<std::string> functions, std::string section,
                    std::string timed, std::function<void(MPI_File)> call) {
  return entry(std::move(name), std::move(functions), std::move(section), std::move(timed),
               [call = std::move(call)](Case& c) {
                 const MPI_File file = scratch_file(c);
                 return Body{.call = [=] { call(file); }};
               });
}

// The same where a rank needs no other for it.
Measurement alone(std::string name, std::vector<std::string> functions, std::string section,
                  std::string timed, std::function<void(MPI_File)> call) {
  Measurement one = on_file(std::move(name), std::move(functions), std::move(section),
                            std::move(timed), std::move(call));
  one.sample = kAlone;
  one.start = Start::back_to_back;
  return one;
}

// What MPI libraries lock the file for.
Measurement locking(Measurement one) {
  one.make = [make = one.make](Case& c) {
    need_locks(c);
    return make(c);
  };
  return one;
}

std::vector<Measurement> opens() {
  std::vector<Measurement> all;
  const auto open = [](const Case& c, MPI_File* file) {
    must(MPI_File_open(c.comm, c.file.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, file));
  };
  all.push_back(entry("file-open", {"MPI_File_open"}, "14.2.1",
                      "File_open of a file that is there; File_close is not timed", [=](Case& c) {
                        scratch_file(c);  // so that opening makes none
                        MPI_File* const file = c.values<MPI_File>(1);
                        return Body{.call = [=, &c] { open(c, file); },
                                    .after = [=] { must(MPI_File_close(file)); }};
                      }));
  all.push_back(entry("file-close", {"MPI_File_close"}, "14.2.2",
                      "File_close; File_open is not timed", [=](Case& c) {
                        scratch_file(c);
                        MPI_File* const file = c.values<MPI_File>(1);
                        return Body{.call = [=] { must(MPI_File_close(file)); },
                                    .before = [=, &c] { open(c, file); }};
                      }));
  all.push_back(entry("file-create", {"MPI_File_open", "MPI_File_close"}, "14.2.1",
                      "File_open that makes the file; File_close, which deletes it, is not timed",
                      [](Case& c) {
                        MPI_File* const file = c.values<MPI_File>(1);
                        return Body{.call = [=, &c] { must(open_scratch(c, c.comm, file)); },
                                    .after = [=] { must(MPI_File_close(file)); }};
                      }));
  Measurement deletion = entry(
      "file-delete", {"MPI_File_delete"}, "14.2.3", "File_delete on the first rank", [](Case& c) {
        const bool first = c.rank == 0;
        return Body{
            .call =
                [=, &c] {
                  if (first) must(MPI_File_delete(c.file.c_str(), MPI_INFO_NULL));
                },
            .before =
                [&c] {
                  MPI_File file = MPI_FILE_NULL;
                  must(MPI_File_open(c.comm, c.file.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                                     MPI_INFO_NULL, &file));
                  must(MPI_File_close(&file));
                }};
      });
  deletion.sample = "the call on the first rank";
  deletion.over = Over::first;
  all.push_back(std::move(deletion));
  return all;
}

// A view whose filetype is made before, and freed behind it.
Measurement set_view(const char* name, const char* words, MPI_Datatype (*make)(Case&),
                     const char* representation = "native") {
  return entry(std::string("file-set-view-") + name, {"MPI_File_set_view"}, "14.3",
               std::string("File_set_view of ") + words, [=](Case& c) {
                 const MPI_File file = scratch_file(c);
                 const MPI_Datatype type = make(c);
                 return Body{.call = [=] {
                   must(MPI_File_set_view(file, 0, MPI_INT, type, representation, MPI_INFO_NULL));
                 }};
               });
}

MPI_Datatype contiguous(Case& c) {
  return c.type("MPI_Type_contiguous",
                [](MPI_Datatype* type) { return MPI_Type_contiguous(1024, MPI_INT, type); });
}

MPI_Datatype vector(Case& c) {
  return c.type("MPI_Type_vector", [&](MPI_Datatype* type) {
    return MPI_Type_vector(1024, 1, c.ranks, MPI_INT, type);
  });
}

MPI_Datatype indexed(Case& c) {
  std::vector<int> lengths(1024, 1), places;
  for (int i = 0; i < 1024; ++i) places.push_back(i * c.ranks);
  return c.type("MPI_Type_indexed", [&](MPI_Datatype* type) {
    return MPI_Type_indexed(1024, lengths.data(), places.data(), MPI_INT, type);
  });
}

MPI_Datatype subarray(Case& c) {
  const int sizes[] = {32, 32, c.ranks}, part[] = {32, 32, 1}, begin[] = {0, 0, c.rank};
  return c.type("MPI_Type_create_subarray", [&](MPI_Datatype* type) {
    return MPI_Type_create_subarray(3, sizes, part, begin, MPI_ORDER_C, MPI_INT, type);
  });
}

std::vector<Measurement> views() {
  std::vector<Measurement> all = {
      set_view("contiguous", "1,024 ints", contiguous),
      set_view("vector", "1,024 single ints, ranks taking turns", vector),
      set_view("indexed", "the same as a list", indexed),
      set_view("subarray", "32 x 32 ints of a three-dimensional array", subarray),
      set_view("external32", "1,024 ints in external32", contiguous, "external32")};
  all.push_back(
      alone("file-get-view", {"MPI_File_get_view"}, "14.3", "File_get_view", [](MPI_File file) {
        MPI_Offset offset = 0;
        MPI_Datatype etype, filetype;
        char representation[MPI_MAX_DATAREP_STRING];
        must(MPI_File_get_view(file, &offset, &etype, &filetype, representation));
      }));
  return all;
}

std::vector<Measurement> pointers() {
  std::vector<Measurement> all;
  all.push_back(alone("file-seek", {"MPI_File_seek"}, "14.4.3", "File_seek",
                      [](MPI_File file) { must(MPI_File_seek(file, 4096, MPI_SEEK_SET)); }));
  all.push_back(locking(
      on_file("file-seek-shared", {"MPI_File_seek_shared"}, "14.4.4", "File_seek_shared",
              [](MPI_File file) { must(MPI_File_seek_shared(file, 4096, MPI_SEEK_SET)); })));
  all.push_back(alone("file-get-position", {"MPI_File_get_position"}, "14.4.3", "File_get_position",
                      [](MPI_File file) {
                        MPI_Offset offset = 0;
                        must(MPI_File_get_position(file, &offset));
                      }));
  all.push_back(locking(alone("file-get-position-shared", {"MPI_File_get_position_shared"},
                              "14.4.4", "File_get_position_shared", [](MPI_File file) {
                                MPI_Offset offset = 0;
                                must(MPI_File_get_position_shared(file, &offset));
                              })));
  all.push_back(alone("file-get-byte-offset", {"MPI_File_get_byte_offset"}, "14.4.3",
                      "File_get_byte_offset", [](MPI_File file) {
                        MPI_Offset offset = 0;
                        must(MPI_File_get_byte_offset(file, 4096, &offset));
                      }));
  return all;
}

// The job's file, opened by this rank alone.
MPI_File own_file(Case& c) {
  return c.opened_alone("MPI_File_open",
                        [&](MPI_File* file) { return open_scratch(c, MPI_COMM_SELF, file); });
}

// A call that gives an empty file c.bytes; made empty again, untimed.
Measurement growing(std::string name, std::string function, int (*call)(MPI_File, MPI_Offset),
                    Over over) {
  const bool alone = over == Over::first;
  const std::string timed =
      fmt::format("{} of an empty file{}", function.substr(4), alone ? " of MPI_COMM_SELF" : "");
  const auto make = [call, alone](Case& c) {
    if (alone && c.rank != 0) return Body{.call = [] {}};
    const MPI_File file = alone ? own_file(c) : scratch_file(c);
    return Body{.call = [=, &c] { must(call(file, c.bytes)); },
                .after = [=] { must(MPI_File_set_size(file, 0)); }};
  };
  Measurement one = entry(std::move(name), {std::move(function)}, "14.2", timed, make);
  one.over = over;
  if (alone) one.sample = "the call on the first rank, begun behind a barrier";
  one.sizes = {64 << 10, 16 << 20};
  return one;
}

std::vector<Measurement> sizes_and_sync() {
  std::vector<Measurement> all;
  all.push_back(growing("file-set-size", "MPI_File_set_size", MPI_File_set_size, Over::slowest));
  // By all ranks, each rank of Open MPI 4.1 looks for itself how large the file is, while the first
  // one makes it larger; those that saw it before and after go different ways, and a later call
  // fails. The first one does all the work in any case.
  all.push_back(
      growing("file-preallocate", "MPI_File_preallocate", MPI_File_preallocate, Over::first));
  all.push_back(
      alone("file-get-size", {"MPI_File_get_size"}, "14.2.6", "File_get_size", [](MPI_File file) {
        MPI_Offset size = 0;
        must(MPI_File_get_size(file, &size));
      }));
  Measurement sync =
      entry("file-sync", {"MPI_File_sync"}, "14.6.1",
            "File_sync behind a File_write_at of the bytes", [](Case& c) {
              const MPI_File file = scratch_file(c);
              char* const memory = c.memory(c.bytes);
              fill(c, file, c.rank * c.bytes, memory, c.count());
              return Body{.call = [=] { must(MPI_File_sync(file)); },
                          .before =
                              [=, &c] {
                                must(MPI_File_write_at(file, c.rank * c.bytes, memory, c.count(),
                                                       MPI_BYTE, MPI_STATUS_IGNORE));
                              }};
            });
  sync.sizes = kAccesses;
  all.push_back(std::move(sync));
  all.push_back(on_file("file-sync-clean", {"MPI_File_sync"}, "14.6.1",
                        "File_sync with nothing written",
                        [](MPI_File file) { must(MPI_File_sync(file)); }));
  Measurement atomic =
      entry("file-write-at-atomic", {"MPI_File_write_at", "MPI_File_set_atomicity"}, "14.6.1",
            "File_write_at in atomic mode", [](Case& c) {
              const MPI_File file = scratch_file(c);
              char* const memory = c.memory(c.bytes);
              fill(c, file, c.rank * c.bytes, memory, c.count());
              c.together("MPI_File_set_atomicity", [&] { must(MPI_File_set_atomicity(file, 1)); });
              return Body{.call = [=, &c] {
                must(MPI_File_write_at(file, c.rank * c.bytes, memory, c.count(), MPI_BYTE,
                                       MPI_STATUS_IGNORE));
              }};
            });
  atomic.sizes = kAccesses;
  all.push_back(locking(std::move(atomic)));
  return all;
}

std::vector<Measurement> questions() {
  std::vector<Measurement> all;
  all.push_back(on_file("file-set-atomicity", {"MPI_File_set_atomicity"}, "14.6.1",
                        "File_set_atomicity on, and off again", [](MPI_File file) {
                          must(MPI_File_set_atomicity(file, 1));
                          must(MPI_File_set_atomicity(file, 0));
                        }));
  all.push_back(alone("file-get-atomicity", {"MPI_File_get_atomicity"}, "14.6.1",
                      "File_get_atomicity", [](MPI_File file) {
                        int flag = 0;
                        must(MPI_File_get_atomicity(file, &flag));
                      }));
  all.push_back(on_file("file-set-info", {"MPI_File_set_info"}, "14.2.8", "File_set_info of a hint",
                        [](MPI_File file) {
                          MPI_Info info = MPI_INFO_NULL;
                          must(MPI_Info_create(&info));
                          must(MPI_Info_set(info, "cb_buffer_size", "4194304"));
                          must(MPI_File_set_info(file, info));
                          must(MPI_Info_free(&info));
                        }));
  all.push_back(alone("file-get-info", {"MPI_File_get_info"}, "14.2.8", "File_get_info, Info_free",
                      [](MPI_File file) {
                        MPI_Info info = MPI_INFO_NULL;
                        must(MPI_File_get_info(file, &info));
                        must(MPI_Info_free(&info));
                      }));
  all.push_back(alone("file-get-group", {"MPI_File_get_group"}, "14.2.7",
                      "File_get_group, Group_free", [](MPI_File file) {
                        MPI_Group group = MPI_GROUP_NULL;
                        must(MPI_File_get_group(file, &group));
                        must(MPI_Group_free(&group));
                      }));
  all.push_back(alone("file-get-amode", {"MPI_File_get_amode"}, "14.2.7", "File_get_amode",
                      [](MPI_File file) {
                        int mode = 0;
                        must(MPI_File_get_amode(file, &mode));
                      }));
  all.push_back(alone("file-get-type-extent", {"MPI_File_get_type_extent"}, "14.5",
                      "File_get_type_extent of an int", [](MPI_File file) {
                        MPI_Aint extent = 0;
                        must(MPI_File_get_type_extent(file, MPI_INT, &extent));
                      }));
  return all;
}

}  // namespace

std::vector<Measurement> file_handling() {
  std::vector<Measurement> all = opens();
  for (auto* const part : {views, pointers, sizes_and_sync, questions})
    for (Measurement& each : part()) all.push_back(std::move(each));
  return all;
}

}  // namespace haichi::measure
