// The life of communicators and groups: making them, what is asked of them, freeing them.
#include <algorithm>

#include "measure/case/case.h"
#include "measure/suite/groups.h"

namespace haichi::measure {
namespace {

#ifdef OPEN_MPI
constexpr int kDistGraphRanks = 4;  // up to which it was not seen to hang
#endif

Measurement entry(std::string name, std::vector<std::string> functions, std::string section,
                  std::string timed, std::function<Body(Case&)> make) {
  return {.name = std::move(name),
          .group = "communicator",
          .functions = std::move(functions),
          .section = std::move(section),
          .timed = std::move(timed),
          .sample = "the call on all ranks, begun behind a barrier",
          .buffers = "none",
          .make = std::move(make)};
}

using Make = std::function<void(const Case&, MPI_Comm*)>;

void free_if_there(MPI_Comm* comm) {
  if (*comm != MPI_COMM_NULL) must(MPI_Comm_free(comm));
}

// Making a communicator; freeing it is not timed.
Measurement making(std::string name, std::string function, std::string section, Make make) {
  const std::string timed = function.substr(4) + "; Comm_free is not timed";
  return entry(std::move(name), {std::move(function)}, std::move(section), timed,
               [make = std::move(make)](Case& c) {
                 MPI_Comm* const comm = c.values<MPI_Comm>(1, MPI_COMM_NULL);
                 return Body{.call = [=, &c] { make(c, comm); },
                             .after = [=] { free_if_there(comm); }};
               });
}

std::vector<Measurement> makings() {
  std::vector<Measurement> all;
  all.push_back(making("comm-dup", "MPI_Comm_dup", "7.4.2",
                       [](const Case& c, MPI_Comm* comm) { must(MPI_Comm_dup(c.comm, comm)); }));
  all.push_back(making("comm-dup-with-info", "MPI_Comm_dup_with_info", "7.4.2",
                       [](const Case& c, MPI_Comm* comm) {
                         must(MPI_Comm_dup_with_info(c.comm, MPI_INFO_NULL, comm));
                       }));
  all.push_back(making("comm-idup", "MPI_Comm_idup", "7.4.2", [](const Case& c, MPI_Comm* comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    must(MPI_Comm_idup(c.comm, comm, &request));
    must(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }));
#if MPI_VERSION >= 4
  all.push_back(making("comm-idup-with-info", "MPI_Comm_idup_with_info", "7.4.2",
                       [](const Case& c, MPI_Comm* comm) {
                         MPI_Request request = MPI_REQUEST_NULL;
                         must(MPI_Comm_idup_with_info(c.comm, MPI_INFO_NULL, comm, &request));
                         must(MPI_Wait(&request, MPI_STATUS_IGNORE));
                       }));
#endif
  all.push_back(making("comm-split", "MPI_Comm_split", "7.4.2", [](const Case& c, MPI_Comm* comm) {
    must(MPI_Comm_split(c.comm, c.rank % 2, c.rank, comm));
  }));
  all.push_back(
      making("comm-split-type", "MPI_Comm_split_type", "7.4.2", [](const Case& c, MPI_Comm* comm) {
        must(MPI_Comm_split_type(c.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, comm));
      }));
  all.push_back(
      making("comm-create", "MPI_Comm_create", "7.4.2", [](const Case& c, MPI_Comm* comm) {
        MPI_Group group = MPI_GROUP_NULL;
        must(MPI_Comm_group(c.comm, &group));
        must(MPI_Comm_create(c.comm, group, comm));
        must(MPI_Group_free(&group));
      }));
  all.push_back(making("comm-create-group", "MPI_Comm_create_group", "7.4.2",
                       [](const Case& c, MPI_Comm* comm) {
                         MPI_Group group = MPI_GROUP_NULL;
                         must(MPI_Comm_group(c.comm, &group));
                         must(MPI_Comm_create_group(c.comm, group, 0, comm));
                         must(MPI_Group_free(&group));
                       }));
#if MPI_VERSION >= 4
  all.push_back(making("comm-create-from-group", "MPI_Comm_create_from_group", "7.4.2",
                       [](const Case& c, MPI_Comm* comm) {
                         MPI_Group group = MPI_GROUP_NULL;
                         must(MPI_Comm_group(c.comm, &group));
                         must(MPI_Comm_create_from_group(group, "haichi measure", MPI_INFO_NULL,
                                                         MPI_ERRORS_RETURN, comm));
                         must(MPI_Group_free(&group));
                       }));
#endif
  return all;
}

std::vector<Measurement> topologies() {
  std::vector<Measurement> all;
  all.push_back(making("cart-create", "MPI_Cart_create", "8.5", [](const Case& c, MPI_Comm* comm) {
    const int periodic = 1;
    must(MPI_Cart_create(c.comm, 1, &c.ranks, &periodic, 0, comm));
  }));
  all.push_back(making("cart-sub", "MPI_Cart_sub", "8.5", [](const Case& c, MPI_Comm* comm) {
    MPI_Comm cart = MPI_COMM_NULL;
    const int sizes[] = {c.ranks, 1}, periodic[] = {1, 1}, remain[] = {1, 0};
    must(MPI_Cart_create(c.comm, 2, sizes, periodic, 0, &cart));
    must(MPI_Cart_sub(cart, remain, comm));
    must(MPI_Comm_free(&cart));
  }));
  all.back().functions.push_back("MPI_Cart_create");
  all.back().timed = "Cart_create, Cart_sub, Comm_free; freeing the part is not timed";
  all.push_back(
      making("graph-create", "MPI_Graph_create", "8.5", [](const Case& c, MPI_Comm* comm) {
        std::vector<int> index, edges;
        for (int i = 0; i < c.ranks; ++i) {
          edges.push_back((i + 1) % c.ranks);
          index.push_back(i + 1);
        }
        must(MPI_Graph_create(c.comm, c.ranks, index.data(), edges.data(), 0, comm));
      }));
  all.push_back(making("dist-graph-create", "MPI_Dist_graph_create", "8.5",
                       [](const Case& c, MPI_Comm* comm) {
#ifdef OPEN_MPI
                         // https://github.com/open-mpi/ompi/issues/13918
                         if (c.ranks > kDistGraphRanks)
                           throw CallFailed("Open MPI hangs in repeated calls with many ranks");
#endif
                         const int one = 1, to = (c.rank + 1) % c.ranks;
                         must(MPI_Dist_graph_create(c.comm, 1, &c.rank, &one, &to, MPI_UNWEIGHTED,
                                                    MPI_INFO_NULL, 0, comm));
                       }));
  all.push_back(making("dist-graph-create-adjacent", "MPI_Dist_graph_create_adjacent", "8.5",
                       [](const Case& c, MPI_Comm* comm) {
                         const int to = (c.rank + 1) % c.ranks;
                         const int from = (c.rank + c.ranks - 1) % c.ranks;
                         must(MPI_Dist_graph_create_adjacent(c.comm, 1, &from, MPI_UNWEIGHTED, 1,
                                                             &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                                             comm));
                       }));
  return all;
}

// Each half of the ranks is one side.
MPI_Comm half_of(Case& c) {
  return c.communicator("MPI_Comm_split", [&](MPI_Comm* half) {
    return MPI_Comm_split(c.comm, c.rank < c.ranks / 2 ? 0 : 1, c.rank, half);
  });
}

int other_leader(const Case& c) { return c.rank < c.ranks / 2 ? c.ranks / 2 : 0; }

std::vector<Measurement> intercommunicators() {
  std::vector<Measurement> all;
  all.push_back(entry(
      "intercomm-create", {"MPI_Intercomm_create"}, "7.6.2",
      "Intercomm_create of two halves; Comm_free is not timed", [](Case& c) {
        const MPI_Comm half = half_of(c);
        MPI_Comm* const made = c.values<MPI_Comm>(1);
        return Body{
            .call = [=,
                     &c] { must(MPI_Intercomm_create(half, 0, c.comm, other_leader(c), 9, made)); },
            .after = [=] { must(MPI_Comm_free(made)); }};
      }));
  all.push_back(
      entry("intercomm-merge", {"MPI_Intercomm_merge"}, "7.6.2",
            "Intercomm_merge of two halves; Comm_free is not timed", [](Case& c) {
              const MPI_Comm half = half_of(c);
              const MPI_Comm both = c.communicator("MPI_Intercomm_create", [&](MPI_Comm* inter) {
                return MPI_Intercomm_create(half, 0, c.comm, other_leader(c), 9, inter);
              });
              MPI_Comm* const made = c.values<MPI_Comm>(1);
              return Body{.call =
                              [=, &c] {
                                const int high = c.rank < c.ranks / 2 ? 0 : 1;
                                must(MPI_Intercomm_merge(both, high, made));
                              },
                          .after = [=] { must(MPI_Comm_free(made)); }};
            }));
  for (Measurement& each : all) each.least_ranks = 2;
  return all;
}

// A call on each rank by itself.
Measurement alone(std::string name, std::vector<std::string> functions, std::string section,
                  std::string timed, std::function<void(const Case&)> call) {
  Measurement one =
      entry(std::move(name), std::move(functions), std::move(section), std::move(timed),
            [call = std::move(call)](Case& c) { return Body{.call = [&c, call] { call(c); }}; });
  one.sample = "the calls on each rank by itself";
  one.start = Start::back_to_back;
  return one;
}

std::vector<Measurement> questions() {
  std::vector<Measurement> all;
  all.push_back(alone("comm-rank-size", {"MPI_Comm_rank", "MPI_Comm_size"}, "7.4.1",
                      "Comm_rank, Comm_size", [](const Case& c) {
                        int rank = 0, size = 0;
                        must(MPI_Comm_rank(c.comm, &rank));
                        must(MPI_Comm_size(c.comm, &size));
                      }));
  all.push_back(alone("comm-compare", {"MPI_Comm_compare"}, "7.4.1",
                      "Comm_compare with MPI_COMM_WORLD", [](const Case& c) {
                        int result = 0;
                        must(MPI_Comm_compare(c.comm, MPI_COMM_WORLD, &result));
                      }));
  all.push_back(alone("comm-test-inter", {"MPI_Comm_test_inter"}, "7.6.1", "Comm_test_inter",
                      [](const Case& c) {
                        int flag = 0;
                        must(MPI_Comm_test_inter(c.comm, &flag));
                      }));
  all.push_back(alone("comm-group", {"MPI_Comm_group", "MPI_Group_free"}, "7.3.2",
                      "Comm_group, Group_free", [](const Case& c) {
                        MPI_Group group = MPI_GROUP_NULL;
                        must(MPI_Comm_group(c.comm, &group));
                        must(MPI_Group_free(&group));
                      }));
  all.push_back(alone("comm-set-info", {"MPI_Comm_set_info", "MPI_Comm_get_info"}, "7.4.4",
                      "Comm_get_info, Comm_set_info of the same, Info_free", [](const Case& c) {
                        MPI_Info info = MPI_INFO_NULL;
                        must(MPI_Comm_get_info(c.comm, &info));
                        must(MPI_Comm_set_info(c.comm, info));
                        must(MPI_Info_free(&info));
                      }));
  all.back().start = Start::barrier;
  all.push_back(alone("topo-test", {"MPI_Topo_test"}, "8.5.5", "Topo_test", [](const Case& c) {
    int status = 0;
    must(MPI_Topo_test(c.comm, &status));
  }));
  all.push_back(
      alone("dims-create", {"MPI_Dims_create"}, "8.5.2", "Dims_create of three", [](const Case& c) {
        int sizes[3] = {0, 0, 0};
        must(MPI_Dims_create(c.ranks, 3, sizes));
      }));
  return all;
}

// On a ring as a Cartesian communicator.
Measurement on_ring(std::string name, std::vector<std::string> functions, std::string timed,
                    std::function<void(const Case&, MPI_Comm)> call) {
  Measurement one = entry(std::move(name), std::move(functions), "8.5.5", std::move(timed),
                          [call = std::move(call)](Case& c) {
                            const MPI_Comm ring = c.ring();
                            return Body{.call = [=, &c] { call(c, ring); }};
                          });
  one.sample = "the calls on each rank by itself";
  one.start = Start::back_to_back;
  return one;
}

std::vector<Measurement> ring_questions() {
  std::vector<Measurement> all;
  all.push_back(
      on_ring("cart-shift", {"MPI_Cart_shift"}, "Cart_shift", [](const Case&, MPI_Comm ring) {
        int from = 0, to = 0;
        must(MPI_Cart_shift(ring, 0, 1, &from, &to));
      }));
  all.push_back(on_ring("cart-coords", {"MPI_Cart_coords", "MPI_Cart_rank"},
                        "Cart_coords, Cart_rank", [](const Case& c, MPI_Comm ring) {
                          int place = 0, rank = 0;
                          must(MPI_Cart_coords(ring, c.rank, 1, &place));
                          must(MPI_Cart_rank(ring, &place, &rank));
                        }));
  all.push_back(on_ring("cart-get", {"MPI_Cart_get", "MPI_Cartdim_get"}, "Cartdim_get, Cart_get",
                        [](const Case&, MPI_Comm ring) {
                          int dimensions = 0, size = 0, periodic = 0, place = 0;
                          must(MPI_Cartdim_get(ring, &dimensions));
                          must(MPI_Cart_get(ring, 1, &size, &periodic, &place));
                        }));
  return all;
}

// With the group of all ranks and that of the lower half.
Measurement on_groups(std::string name, std::vector<std::string> functions, std::string timed,
                      std::function<void(const Case&, MPI_Group, MPI_Group)> call) {
  Measurement one = entry(std::move(name), std::move(functions), "7.3.2", std::move(timed),
                          [call = std::move(call)](Case& c) {
                            int range[1][3] = {{0, std::max(c.ranks / 2 - 1, 0), 1}};
                            const MPI_Group all = c.group_of_all();
                            const MPI_Group half =
                                c.group("MPI_Group_range_incl", [&](MPI_Group* made) {
                                  return MPI_Group_range_incl(all, 1, range, made);
                                });
                            return Body{.call = [=, &c] { call(c, all, half); }};
                          });
  one.sample = "the calls on each rank by itself";
  one.start = Start::back_to_back;
  return one;
}

using SetOperation = int (*)(MPI_Group, MPI_Group, MPI_Group*);

Measurement set_operation(std::string name, std::string function, SetOperation call) {
  const std::string timed = function.substr(4) + " of all and half of the ranks, Group_free";
  return on_groups(std::move(name), {std::move(function), "MPI_Group_free"}, timed,
                   [call](const Case&, MPI_Group all, MPI_Group half) {
                     MPI_Group made = MPI_GROUP_NULL;
                     must(call(all, half, &made));
                     // An empty result is a constant, which need not be freed.
                     if (made != MPI_GROUP_EMPTY) must(MPI_Group_free(&made));
                   });
}

using Choice = int (*)(MPI_Group, int, const int[], MPI_Group*);

Measurement choice(std::string name, std::string function, Choice call) {
  const std::string timed = function.substr(4) + " of the first rank, Group_free";
  return on_groups(std::move(name), {std::move(function)}, timed,
                   [call](const Case&, MPI_Group all, MPI_Group) {
                     const int first = 0;
                     MPI_Group made = MPI_GROUP_NULL;
                     must(call(all, 1, &first, &made));
                     if (made != MPI_GROUP_EMPTY) must(MPI_Group_free(&made));
                   });
}

using RangeChoice = int (*)(MPI_Group, int, int[][3], MPI_Group*);

Measurement range_choice(std::string name, std::string function, RangeChoice call) {
  const std::string timed = function.substr(4) + " of the first rank, Group_free";
  return on_groups(std::move(name), {std::move(function)}, timed,
                   [call](const Case&, MPI_Group all, MPI_Group) {
                     int range[1][3] = {{0, 0, 1}};
                     MPI_Group made = MPI_GROUP_NULL;
                     must(call(all, 1, range, &made));
                     if (made != MPI_GROUP_EMPTY) must(MPI_Group_free(&made));
                   });
}

std::vector<Measurement> groups() {
  std::vector<Measurement> all = {
      set_operation("group-union", "MPI_Group_union", MPI_Group_union),
      set_operation("group-intersection", "MPI_Group_intersection", MPI_Group_intersection),
      set_operation("group-difference", "MPI_Group_difference", MPI_Group_difference),
      choice("group-incl", "MPI_Group_incl", MPI_Group_incl),
      choice("group-excl", "MPI_Group_excl", MPI_Group_excl),
      range_choice("group-range-incl", "MPI_Group_range_incl", MPI_Group_range_incl),
      range_choice("group-range-excl", "MPI_Group_range_excl", MPI_Group_range_excl)};
  all.push_back(on_groups("group-rank-size", {"MPI_Group_rank", "MPI_Group_size"},
                          "Group_rank, Group_size",
                          [](const Case&, MPI_Group all_ranks, MPI_Group) {
                            int rank = 0, size = 0;
                            must(MPI_Group_rank(all_ranks, &rank));
                            must(MPI_Group_size(all_ranks, &size));
                          }));
  all.push_back(on_groups("group-translate-ranks", {"MPI_Group_translate_ranks"},
                          "Group_translate_ranks of one rank",
                          [](const Case& c, MPI_Group all_ranks, MPI_Group half) {
                            int there = 0;
                            must(MPI_Group_translate_ranks(all_ranks, 1, &c.rank, half, &there));
                          }));
  all.push_back(on_groups("group-compare", {"MPI_Group_compare"}, "Group_compare",
                          [](const Case&, MPI_Group all_ranks, MPI_Group half) {
                            int result = 0;
                            must(MPI_Group_compare(all_ranks, half, &result));
                          }));
  return all;
}

Measurement comm_free() {
  return entry("comm-free", {"MPI_Comm_free"}, "7.4.3", "Comm_free; Comm_dup is not timed",
               [](Case& c) {
                 MPI_Comm* const comm = c.values<MPI_Comm>(1);
                 return Body{.call = [=] { must(MPI_Comm_free(comm)); },
                             .before = [=, &c] { must(MPI_Comm_dup(c.comm, comm)); }};
               });
}

}  // namespace

std::vector<Measurement> communicators() {
  std::vector<Measurement> all = makings();
  all.push_back(comm_free());
  for (auto* const part : {topologies, intercommunicators, questions, ring_questions, groups})
    for (Measurement& each : part()) all.push_back(std::move(each));
  return all;
}

}  // namespace haichi::measure
