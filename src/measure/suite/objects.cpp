// Small things that a rank does by itself: clocks, info, attributes, types asked for their size,
// operations, memory, sessions.
#include <string.h>

#include "measure/case/case.h"
#include "measure/suite/groups.h"

namespace haichi::measure {
namespace {

Measurement entry(std::string name, std::vector<std::string> functions, std::string section,
                  std::string timed, std::function<Body(Case&)> make) {
  return {.name = std::move(name),
          .group = "object",
          .functions = std::move(functions),
          .section = std::move(section),
          .timed = std::move(timed),
          .sample = "the calls on each rank by itself",
          .buffers = "none",
          .make = std::move(make),
          .start = Start::back_to_back};
}

// Calls that need nothing made beforehand.
Measurement plain(std::string name, std::vector<std::string> functions, std::string section,
                  std::string timed, void (*call)()) {
  return entry(std::move(name), std::move(functions), std::move(section), std::move(timed),
               [call](Case&) { return Body{.call = call}; });
}

volatile double sink;  // so that no call is left out

// No MPI: what a copy of a message in memory costs, to hold the library's against.
Measurement memory_copy() {
  Measurement copy = entry("memory-copy", {}, "-", "memcpy", [](Case& c) {
    char* const to = c.memory(c.bytes);
    const char* const from = c.memory(c.bytes);
    return Body{.call = [=, &c] {
      memcpy(to, from, size_t(c.bytes));
      sink = to[c.bytes - 1];
    }};
  });
  copy.sample = "one copy on each rank, all at once";
  copy.buffers = "one to copy from and one to copy to, the same every time: hot";
  copy.sizes = {1 << 10, 16 << 20};
  return copy;
}

std::vector<Measurement> clocks_and_names() {
  std::vector<Measurement> all;
  all.push_back(plain("wtime", {"MPI_Wtime"}, "9.6", "Wtime", [] { sink = MPI_Wtime(); }));
  all.push_back(plain("wtick", {"MPI_Wtick"}, "9.6", "Wtick", [] { sink = MPI_Wtick(); }));
  all.push_back(plain("initialized", {"MPI_Initialized", "MPI_Finalized"}, "11.4",
                      "Initialized, Finalized", [] {
                        int flag = 0;
                        must(MPI_Initialized(&flag));
                        must(MPI_Finalized(&flag));
                      }));
  all.push_back(
      plain("get-processor-name", {"MPI_Get_processor_name"}, "9.1", "Get_processor_name", [] {
        char name[MPI_MAX_PROCESSOR_NAME];
        int length = 0;
        must(MPI_Get_processor_name(name, &length));
      }));
  all.push_back(entry("alloc-mem", {"MPI_Alloc_mem", "MPI_Free_mem"}, "9.2", "Alloc_mem, Free_mem",
                      [](Case& c) {
                        return Body{.call = [&c] {
                          void* memory = nullptr;
                          must(MPI_Alloc_mem(c.bytes, MPI_INFO_NULL, &memory));
                          must(MPI_Free_mem(memory));
                        }};
                      }));
  all.back().sizes = {4 << 10, 4 << 20};
  all.push_back(memory_copy());
  return all;
}

std::vector<Measurement> infos() {
  std::vector<Measurement> all;
  all.push_back(plain("info-create", {"MPI_Info_create", "MPI_Info_free"}, "10",
                      "Info_create, Info_free", [] {
                        MPI_Info info = MPI_INFO_NULL;
                        must(MPI_Info_create(&info));
                        must(MPI_Info_free(&info));
                      }));
  all.push_back(entry("info-set-get",
                      {"MPI_Info_set", "MPI_Info_get", "MPI_Info_delete", "MPI_Info_get_nkeys",
                       "MPI_Info_get_valuelen", "MPI_Info_get_nthkey"},
                      "10",
                      "Info_set, Info_get_nkeys, Info_get_nthkey, Info_get_valuelen, Info_get, "
                      "Info_delete",
                      [](Case& c) {
                        const MPI_Info info = c.info();
                        return Body{.call = [=] {
                          char value[8], key[MPI_MAX_INFO_KEY];
                          int there = 0, number = 0;
                          must(MPI_Info_set(info, "key", "value"));
                          must(MPI_Info_get_nkeys(info, &number));
                          must(MPI_Info_get_nthkey(info, 0, key));
                          must(MPI_Info_get_valuelen(info, "key", &number, &there));
                          must(MPI_Info_get(info, "key", 7, value, &there));
                          must(MPI_Info_delete(info, "key"));
                        }};
                      }));
  all.push_back(
      entry("info-dup", {"MPI_Info_dup"}, "10", "Info_dup of one key, Info_free", [](Case& c) {
        const MPI_Info info = c.info();
        c.alone("MPI_Info_set", [&] { must(MPI_Info_set(info, "key", "value")); });
        return Body{.call = [=] {
          MPI_Info copy = MPI_INFO_NULL;
          must(MPI_Info_dup(info, &copy));
          must(MPI_Info_free(&copy));
        }};
      }));
  return all;
}

std::vector<Measurement> attributes() {
  std::vector<Measurement> all;
  all.push_back(plain("keyval-create", {"MPI_Comm_create_keyval", "MPI_Comm_free_keyval"}, "7.7",
                      "Comm_create_keyval, Comm_free_keyval", [] {
                        int key = 0;
                        must(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
                                                    &key, nullptr));
                        must(MPI_Comm_free_keyval(&key));
                      }));
  all.push_back(entry("attribute-set-get",
                      {"MPI_Comm_set_attr", "MPI_Comm_get_attr", "MPI_Comm_delete_attr"}, "7.7",
                      "Comm_set_attr, Comm_get_attr, Comm_delete_attr", [](Case& c) {
                        const int key = c.keyval();
                        return Body{.call = [=, &c] {
                          void* value = nullptr;
                          int there = 0;
                          must(MPI_Comm_set_attr(c.comm, key, &c));
                          must(MPI_Comm_get_attr(c.comm, key, &value, &there));
                          must(MPI_Comm_delete_attr(c.comm, key));
                        }};
                      }));
  return all;
}

std::vector<Measurement> types_and_operations() {
  std::vector<Measurement> all;
  all.push_back(plain("type-questions",
                      {"MPI_Type_size", "MPI_Type_get_extent", "MPI_Type_get_true_extent"}, "5.1",
                      "Type_size, Type_get_extent, Type_get_true_extent", [] {
                        int size = 0;
                        MPI_Aint low = 0, extent = 0;
                        must(MPI_Type_size(MPI_DOUBLE, &size));
                        must(MPI_Type_get_extent(MPI_DOUBLE, &low, &extent));
                        must(MPI_Type_get_true_extent(MPI_DOUBLE, &low, &extent));
                      }));
  all.push_back(
      plain("type-dup", {"MPI_Type_dup", "MPI_Type_free"}, "5.1", "Type_dup, Type_free", [] {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        must(MPI_Type_dup(MPI_DOUBLE, &type));
        must(MPI_Type_free(&type));
      }));
  all.push_back(plain("type-resized", {"MPI_Type_create_resized"}, "5.1",
                      "Type_create_resized, Type_free", [] {
                        MPI_Datatype type = MPI_DATATYPE_NULL;
                        must(MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &type));
                        must(MPI_Type_free(&type));
                      }));
  all.push_back(plain("get-address", {"MPI_Get_address"}, "5.1", "Get_address", [] {
    MPI_Aint address = 0;
    must(MPI_Get_address(&address, &address));
  }));
  all.push_back(plain("op-create", {"MPI_Op_create", "MPI_Op_free", "MPI_Op_commutative"}, "6.9.5",
                      "Op_create, Op_commutative, Op_free", [] {
                        MPI_Op op = MPI_OP_NULL;
                        int flag = 0;
                        const auto none = [](void*, void*, int*, MPI_Datatype*) {};
                        must(MPI_Op_create(none, 1, &op));
                        must(MPI_Op_commutative(op, &flag));
                        must(MPI_Op_free(&op));
                      }));
#if MPI_VERSION >= 4
  all.push_back(plain("session-init", {"MPI_Session_init", "MPI_Session_finalize"}, "11.3",
                      "Session_init, Session_finalize", [] {
                        MPI_Session session = MPI_SESSION_NULL;
                        must(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
                        must(MPI_Session_finalize(&session));
                      }));
#endif
  return all;
}

}  // namespace

std::vector<Measurement> objects() {
  std::vector<Measurement> all = clocks_and_names();
  for (auto* const part : {infos, attributes, types_and_operations})
    for (Measurement& each : part()) all.push_back(std::move(each));
  return all;
}

}  // namespace haichi::measure
