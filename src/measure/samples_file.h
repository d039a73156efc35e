// The file that a run of measurements leaves: lines that are written as they are known, so that
// what is there after a kill can be read, and gone on with.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "base/result.h"

namespace haichi::measure {

class SamplesFile {
 public:
  /// A new file. EEXIST if there is one that is not empty: samples are never overwritten. A FIFO or
  /// a device is taken as it is.
  static Result<SamplesFile> create(const std::string& path);
  /// Goes on with a file, or begins one where there is none. `alike` holds what the launch record
  /// of this job says of MPI library and placement: EINVAL for a file of another job, for a line
  /// that is no JSON, and for another form. A last line that was cut off is taken away. What
  /// launches of other repetitions have measured does not count as measured.
  static Result<SamplesFile> resume(const std::string& path, const nlohmann::ordered_json& alike,
                                    int repetition);

  SamplesFile(SamplesFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        path_(std::move(other.path_)),
        launches_(other.launches_),
        measured_(std::move(other.measured_)) {}
  SamplesFile& operator=(SamplesFile&&) = delete;
  ~SamplesFile();

  /// Appends a line. After a failure (a full disk) what was there before it is still whole.
  Status add(const nlohmann::ordered_json& record);

  const std::string& path() const { return path_; }
  /// How many launches have written into it before.
  int launches() const { return launches_; }
  /// Keys of the points that are in it (Point::key()).
  const std::set<std::string>& measured() const { return measured_; }
  /// Whether the measurement's own record is in it.
  bool describes(const std::string& name) const { return measured_.count("measurement/" + name); }

 private:
  SamplesFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  Status take(const std::string& text, const nlohmann::ordered_json& alike, int repetition);

  int fd_;
  std::string path_;
  int launches_ = 0;
  std::set<std::string> measured_;
};

/// A name in the current folder that has the time in it.
std::string new_samples_name();

/// The parts of a launch record that must not differ between launches of one file.
nlohmann::ordered_json what_must_be_alike(const nlohmann::ordered_json& launch);

}  // namespace haichi::measure
