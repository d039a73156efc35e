// The life of windows: making one of each kind and freeing it, apart.
#include "measure/case/case.h"
#include "measure/suite/groups.h"

namespace haichi::measure {
namespace {

constexpr Sizes kWindowSizes{4 << 10, 1 << 20};

// Makes a window of c.bytes. `memory` is as large; `comm` has the ranks of one node.
using Make = int (*)(const Case& c, char* memory, MPI_Comm comm, MPI_Win* window);

struct Kind {
  const char* name;
  const char* function;
  bool sized;
  Make make;
};

const Kind kKinds[] = {
    {"win-create", "MPI_Win_create", true,
     [](const Case& c, char* memory, MPI_Comm, MPI_Win* window) {
       return MPI_Win_create(memory, c.bytes, 1, MPI_INFO_NULL, c.comm, window);
     }},
    {"win-allocate", "MPI_Win_allocate", true,
     [](const Case& c, char*, MPI_Comm, MPI_Win* window) {
       void* memory = nullptr;
       return MPI_Win_allocate(c.bytes, 1, MPI_INFO_NULL, c.comm, &memory, window);
     }},
    {"win-allocate-shared", "MPI_Win_allocate_shared", true,
     [](const Case& c, char*, MPI_Comm comm, MPI_Win* window) {
       void* memory = nullptr;
       return MPI_Win_allocate_shared(c.bytes, 1, MPI_INFO_NULL, comm, &memory, window);
     }},
    {"win-create-dynamic", "MPI_Win_create_dynamic", false,
     [](const Case& c, char*, MPI_Comm, MPI_Win* window) {
       return MPI_Win_create_dynamic(MPI_INFO_NULL, c.comm, window);
     }},
};

Measurement entry(std::string name, std::string function, std::string timed, bool sized) {
  return {.name = std::move(name),
          .group = "window",
          .functions = {std::move(function)},
          .section = "12.2",
          .timed = std::move(timed),
          .sample = "the call on all ranks, begun behind a barrier",
          .buffers = "a new window each time; bytes on each rank",
          .sizes = sized ? kWindowSizes : kNone};
}

MPI_Comm ranks_of_node(Case& c) {
  return c.communicator("MPI_Comm_split_type", [&](MPI_Comm* node) {
    return MPI_Comm_split_type(c.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node);
  });
}

void add(const Kind& kind, std::vector<Measurement>& all) {
  Measurement make = entry(kind.name, kind.function, kind.function + 4, kind.sized);
  make.timed += "; Win_free is not timed";
  Measurement free = entry(std::string(kind.name) + "-free", "MPI_Win_free", "Win_free of", true);
  free.timed = std::string("Win_free; ") + (kind.function + 4) + " is not timed";
  free.sizes = make.sizes;
  // The two differ in what of the window's life is timed.
  const auto body = [create = kind.make](Case& c, bool frees) {
    MPI_Win* const window = c.values<MPI_Win>(1);
    char* const memory = c.memory(c.bytes);
    const MPI_Comm node = ranks_of_node(c);
    const std::function<void()> made = [=, &c] { must(create(c, memory, node, window)); };
    const std::function<void()> freed = [=] { must(MPI_Win_free(window)); };
    if (frees) return Body{.call = freed, .before = made};
    return Body{.call = made, .after = freed};
  };
  make.make = [body](Case& c) { return body(c, false); };
  free.make = [body](Case& c) { return body(c, true); };
  all.push_back(std::move(make));
  all.push_back(std::move(free));
}

Measurement attach(bool detaches) {
  Measurement one = entry(
      detaches ? "win-detach" : "win-attach", detaches ? "MPI_Win_detach" : "MPI_Win_attach",
      detaches ? "Win_detach; Win_attach is not timed" : "Win_attach; Win_detach is not timed",
      true);
  one.sample = "the call on each rank by itself";
  one.buffers = "the same memory each time, at a dynamic window";
  one.start = Start::back_to_back;
  one.make = [detaches](Case& c) {
    char* const memory = c.memory(c.bytes);
    const MPI_Win window = c.window("MPI_Win_create_dynamic", [&](MPI_Win* made) {
      return MPI_Win_create_dynamic(MPI_INFO_NULL, c.comm, made);
    });
    const std::function<void()> on = [=, &c] { must(MPI_Win_attach(window, memory, c.bytes)); };
    const std::function<void()> off = [=] { must(MPI_Win_detach(window, memory)); };
    return detaches ? Body{.call = off, .before = on} : Body{.call = on, .after = off};
  };
  return one;
}

// A call that asks a window for something, on each rank by itself.
Measurement question(std::string name, std::string function, std::string timed,
                     std::function<void(MPI_Win)> ask) {
  Measurement one = entry(std::move(name), std::move(function), std::move(timed), false);
  one.sample = "the call on each rank by itself";
  one.buffers = "one window";
  one.start = Start::back_to_back;
  one.make = [ask = std::move(ask)](Case& c) {
    void* memory = nullptr;
    const MPI_Comm node = ranks_of_node(c);
    const MPI_Win window = c.window("MPI_Win_allocate_shared", [&](MPI_Win* made) {
      return MPI_Win_allocate_shared(4096, 1, MPI_INFO_NULL, node, &memory, made);
    });
    return Body{.call = [=] { ask(window); }};
  };
  return one;
}

}  // namespace

std::vector<Measurement> windows() {
  std::vector<Measurement> all;
  for (const Kind& kind : kKinds) add(kind, all);
  all.push_back(attach(false));
  all.push_back(attach(true));
  all.push_back(question("win-shared-query", "MPI_Win_shared_query",
                         "Win_shared_query of rank 0's part", [](MPI_Win window) {
                           MPI_Aint size = 0;
                           int unit = 0;
                           void* base = nullptr;
                           must(MPI_Win_shared_query(window, 0, &size, &unit, &base));
                         }));
  all.push_back(question("win-get-group", "MPI_Win_get_group", "Win_get_group, Group_free",
                         [](MPI_Win window) {
                           MPI_Group group = MPI_GROUP_NULL;
                           must(MPI_Win_get_group(window, &group));
                           must(MPI_Group_free(&group));
                         }));
  all.push_back(
      question("win-get-info", "MPI_Win_get_info", "Win_get_info, Info_free", [](MPI_Win window) {
        MPI_Info info = MPI_INFO_NULL;
        must(MPI_Win_get_info(window, &info));
        must(MPI_Info_free(&info));
      }));
  all.push_back(question("win-set-info", "MPI_Win_set_info",
                         "Info_create, Win_set_info without a key, Info_free", [](MPI_Win window) {
                           MPI_Info info = MPI_INFO_NULL;
                           must(MPI_Info_create(&info));
                           must(MPI_Win_set_info(window, info));
                           must(MPI_Info_free(&info));
                         }));
  all.back().start = Start::barrier;
  all.push_back(question("win-get-attr", "MPI_Win_get_attr", "Win_get_attr of MPI_WIN_BASE",
                         [](MPI_Win window) {
                           void* value = nullptr;
                           int found = 0;
                           must(MPI_Win_get_attr(window, MPI_WIN_BASE, &value, &found));
                         }));
  return all;
}

}  // namespace haichi::measure
