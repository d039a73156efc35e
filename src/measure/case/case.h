// What a measurement is made with at one point: the ranks that take part, the size, and the one
// owner of all that is made for it.
//
// A call of the set-up may fail on one rank alone. Before each call that ranks make together they
// agree, by one small reduction, that none has failed so far; one that has failed agrees at once.
// So all leave the set-up at the same place, with the same line of text, and none is left waiting
// for another. What was made is then given back as after a measurement.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "measure/case/must.h"
#include "measure/case/team.h"
#include "measure/measurement.h"

namespace haichi::measure {

class Case {
 public:
  /// `team` has the ranks of `measured`, on a communicator of its own; `path` is that of a file of
  /// this job's own, the same on all ranks.
  Case(MPI_Comm measured, Team& team, int64_t size, std::string path)
      : comm(measured),
        rank(team.rank()),
        ranks(team.ranks()),
        bytes(size),
        file(std::move(path)),
        team_(team) {}
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  const MPI_Comm comm;
  const int rank, ranks;  ///< of comm
  const int64_t bytes;
  const std::string file;

  /// The bytes as MPI's counts have them.
  int count() const { return int(bytes); }
  int peer() const { return rank == 0 ? 1 : 0; }

  /// Collective: carries out what a measurement is set up with. Empty, or what went wrong and on
  /// which rank, the same on all; what was made is given back by give_back() in either case.
  std::string set_up(const std::function<Body(Case&)>& make, Body& body);
  /// Collective: undoes all that was made, the last first. How the first call failed that did on
  /// this rank; empty if none did.
  std::string give_back();

  // Within the set-up. Each says by `function` what it calls, for the line of text.

  /// What all ranks make together, until the case ends. A window's errors are returned.
  MPI_Win window(const char* function, const std::function<int(MPI_Win*)>& make);
  MPI_Win allocated_window(int64_t size);  ///< by MPI_Win_allocate
  MPI_Comm communicator(const char* function, const std::function<int(MPI_Comm*)>& make);
  MPI_Comm ring();  ///< a periodic grid of one dimension
  MPI_File opened(const char* function, const std::function<int(MPI_File*)>& open);
  /// Calls that all ranks make together. Whichever fail, all are made.
  void together(const char* function, const std::function<void()>& calls);
  /// A persistent request for a collective, into `request`.
  void persistent_of_all(const char* function, MPI_Request* request,
                         const std::function<int(MPI_Request*)>& make);

  /// What each rank makes by itself, until the case ends. A datatype is committed.
  MPI_Datatype type(const char* function, const std::function<int(MPI_Datatype*)>& make);
  MPI_Group group(const char* function, const std::function<int(MPI_Group*)>& make);
  MPI_Group group_of_all();
  MPI_File opened_alone(const char* function, const std::function<int(MPI_File*)>& open);
  MPI_Info info();
  int keyval();  ///< of communicators
  /// A persistent request, into `request`.
  void persistent(const char* function, MPI_Request* request,
                  const std::function<int(MPI_Request*)>& make);
  /// Calls that a rank makes by itself. Whichever fail, all are made.
  void alone(const char* function, const std::function<void()>& calls) const;
  /// An epoch of the window.
  void lock_all(MPI_Win window);
  /// Those of the requests are cancelled that are receives of which nothing came by then.
  void withdraw_at_end(MPI_Request* requests, int count);
  /// What this rank does by itself when the case ends.
  void at_end(std::function<void()> undo) { ends_.push_back({std::move(undo), kAlone}); }

  /// Memory that begins at a page, written once, until the case ends. Never null.
  char* memory(int64_t size);
  /// Takes all that memory() gave out of this core's caches.
  void cool() const;
  /// Objects of any type, `Value()` each, until the case ends.
  template <class Value>
  Value* values(int64_t count, Value value = Value()) {
    auto made = std::make_shared<std::vector<Value>>(size_t(count), value);
    kept_.push_back(made);
    return made->data();
  }
  MPI_Request* requests(int count) { return values<MPI_Request>(count, MPI_REQUEST_NULL); }

 private:
  static constexpr int kAlone = -1;
  struct End {
    std::function<void()> undo;
    int number;  ///< counted from 0, of those that all ranks undo together
  };
  template <class Handle>
  Handle keep(const char* function, Handle none, const std::function<int(Handle*)>& make,
              int (*free)(Handle*), bool together);
  void agree() const;
  std::string problem_in(const std::function<Body(Case&)>& make, Body& body);

  Team& team_;
  std::vector<End> ends_;
  int together_ = 0;     // how many of `ends_` all ranks undo together
  bool failed_ = false;  // the set-up, on some rank
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<std::pair<const char*, size_t>> memory_;
};

}  // namespace haichi::measure
