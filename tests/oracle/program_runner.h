// Carries a random program out on the ranks of MPI_COMM_WORLD and compares the file with the model.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "oracle/program_plan.h"

namespace oracle {

struct ProgramRun {
  std::string directory = ".";
  bool stock = false;  ///< a library on its own: its statuses are not compared
};

/// The communicators that files are opened on, made once for many programs.
struct ProgramComms {
  MPI_Comm twin = MPI_COMM_NULL, half = MPI_COMM_NULL;
  ProgramComms();
  MPI_Comm of(Handle::Over over) const;
};

struct Memory;

/// One program on this rank.
class ProgramRunner {
 public:
  /// `note` is told where the rank is, in words.
  ProgramRunner(const Program& program, const ProgramComms& comms, const ProgramRun& options,
                void (*note)(const char*));
  ~ProgramRunner();
  /// What is wrong, on the rank that saw it.
  std::vector<std::string> run();
  /// Collective writes that this rank took part in.
  int64_t collective_calls() const { return collective_calls_; }

 private:
  /// A nonblocking or split call under way. Its buffer stays until it is over, and so does its
  /// type: MPICH 4.0.2 ends by a signal if the program frees it before.
  struct UnderWay {
    MPI_Request request = MPI_REQUEST_NULL;
    int call = 0;
    int until = 0;  ///< the call behind which it ends
    std::unique_ptr<Memory> memory;
    std::vector<uint8_t> buffer;
    int64_t bytes = 0;
  };

  void open();
  void close();
  void sync();
  bool run_phase(int index);
  void set_views(const Phase& phase, int before);
  void set_view(const ProgramView& view, MPI_File file);
  void seek_shared(const ProgramView& view);
  void run_calls(const Phase& phase, bool in_thread, std::vector<UnderWay>& pending,
                 std::vector<std::string>& problems);
  void run_call(const Phase& phase, int index, std::vector<UnderWay>& pending,
                std::vector<std::string>& problems);
  void write(const Phase& phase, int index, const Part& part, size_t from, size_t to, int64_t first,
             std::vector<UnderWay>& pending, std::vector<std::string>& problems);
  void end_calls(const Phase& phase, int behind, std::vector<UnderWay>& pending,
                 std::vector<std::string>& problems);
  std::vector<uint8_t> content() const;

  const Program& program_;
  const ProgramComms& comms_;
  const ProgramRun& options_;
  void (*note_)(const char*);
  int rank_ = 0;
  std::string path_;
  std::vector<MPI_File> files_;
  std::vector<std::string> problems_;
  std::unique_ptr<ProgramModel> model_;  // on rank 0
  int64_t collective_calls_ = 0;
};

}  // namespace oracle
