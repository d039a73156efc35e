// Runs one case on an MPI library, as a program would, and holds every result against the model:
// the bytes of the file and of the buffers, statuses, file pointers and error codes.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "oracle/case_model.h"

namespace oracle {

struct RunOptions {
  std::string directory = "/dev/shm";
  /// Judge every call as one of a stock library: see CaseRunner::lax.
  bool stock = false;
  bool verbose = false;
};

/// Called with a line that says where the case is, before each step: for a watchdog.
using Progress = void (*)(const char* where);

class CaseRunner {
 public:
  /// `comm`: the ranks of plan.members in their order.
  CaseRunner(const Plan& plan, MPI_Comm comm, const RunOptions& options, Progress progress);
  CaseRunner(const CaseRunner&) = delete;
  CaseRunner& operator=(const CaseRunner&) = delete;

  /// Collective over `comm`. What this rank found wrong, one line each; empty on every rank if the
  /// case went well.
  std::vector<std::string> run();

  int64_t collective_calls() const { return collective_calls_; }

 private:
  struct Buffer;

  bool open();
  void close();
  void step(const Step& step);
  void set_view(const Step& step);
  void seek(const Step& step);
  void seek_shared(const Step& step);
  int64_t share_out(Call& call);
  void sync();
  void access(const Step& step);
  int begin_nonblocking(const Step& step, const Call& call, Buffer& buffer, MPI_Request* request);
  int complete(const Step& step, int code, MPI_Request request, MPI_Status* status);
  int call_mpi(const Step& step, const Call& call, Buffer& buffer, MPI_Status* status);
  void check_status(const Step& step, const Call& call, MPI_Status& status, int64_t bytes,
                    const Buffer& buffer);
  void check_read(const Step& step, const Call& call, const Buffer& buffer,
                  const std::vector<Piece>& pieces, const std::vector<uint8_t>& before,
                  int64_t bytes);
  void check_position(const Step& step, const Call& call, int64_t bytes);
  void check_shared_position();
  void check_file(bool lax_holes);
  bool settle(const Step& step);

  /// Whether a call may do what stock libraries do and haichi may not: leave anything in bytes that
  /// nobody wrote, and report and deliver more than there is of a read across the end of the file.
  /// So may the calls that haichi leaves to the library.
  bool lax(const Step& step) const;
  bool ok(int code, const char* call);
  template <class... Args>
  void wrong(const char* format, Args... args);
  int64_t file_size() const;
  std::vector<uint8_t> file_content(int64_t size) const;

  const Plan& plan_;
  MPI_Comm comm_;
  const RunOptions& options_;
  Progress progress_;
  int rank_ = 0, ranks_ = 1;
  std::string path_;
  MPI_File file_ = MPI_FILE_NULL;
  int descriptor_ = -1;  // the same file by POSIX, for the checks
  CaseModel model_;      // of all ranks on rank 0; elsewhere only this rank's view and position
  View view_;
  int64_t position_ = 0;  // etypes
  int64_t shared_ = 0;    // the shared file pointer, etypes
  int64_t collective_calls_ = 0;
  std::string where_;
  std::vector<std::string> problems_;
};

}  // namespace oracle
