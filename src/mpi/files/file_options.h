// What settings, hints and the file system ask for of one open file.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/lustre.h"
#include "base/settings.h"
#include "mpiio/storage/window_file.h"
#include "mpiio/twophase/two_phase.h"
#include "placement/placement.h"

namespace haichi::mpi {

class Runtime;

/// True where several threads may call a library that gets on with its nonblocking file requests
/// safely only in a call that waits: Open MPI's MPI_Test and MPI_Iprobe walk the list of them
/// beside a thread that completes one.
bool must_wait_in_library(const Runtime& runtime);

/// Those of the job, changed by the hints of the file. Hints may differ between ranks; what follows
/// from them is equal on all if they are.
class FileOptions {
 public:
  /// `placement`: of the file's ranks. Both must outlive the object.
  FileOptions(const Runtime& runtime, const placement::Placement& placement);

  /// Takes the hints that haichi knows. Those that no part of haichi serves are added to `ignored`,
  /// once each; of a bad value, which is ignored, `complain` is told.
  void take_hints(MPI_Info info, std::vector<std::string>& ignored,
                  const std::function<void(const std::string&)>& complain);
  /// Takes how the file is striped, as its file system says: the hints only asked for it.
  void take_striping(const Striping& striping);
  /// Writes the hints in force into an info object of MPI_File_get_info.
  void give_hints(MPI_Info info) const;
  /// The hints in force, for the report.
  std::map<std::string, std::string> hints() const;

  mpiio::TwoPhaseOptions two_phase() const;
  mpiio::Holes holes() const;
  /// Of the options in force; computed when they are asked for first.
  const plan::Aggregators& aggregators();
  bool aggregates(int rank);

  /// Why collective accesses in this direction are passed through, or empty.
  std::string refusal(mpiio::Direction direction) const;
  bool switched_off() const { return settings_.text("io.enable") != "on"; }
  /// Order and window of exchanges may be chosen by trial: that is asked for, and nobody named one
  /// of them.
  bool wants_tuning() const;
  /// Whether the MPI library's own way is a candidate.
  bool may_be_library() const { return settings_.text("io.library") == "on"; }
  /// Whether nonblocking accesses are to be carried out behind the program.
  bool wants_thread_behind() const { return settings_.text("io.nonblocking") == "thread"; }

 private:
  std::string config_list() const;

  const Runtime& runtime_;
  const placement::Placement& placement_;
  Settings settings_;
  plan::Aggregators aggregators_;  // none: to be computed
};

}  // namespace haichi::mpi
