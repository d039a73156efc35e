// What the standard says a case does: the views, file pointers and bytes of the file after each
// step. Drives the check of a run, and the dump of a case that does not run.
#pragma once

#include "oracle/case_plan.h"

namespace oracle {

/// The data that a rank's call writes, taken from its buffer in stream order.
RankWrite written_by(const Plan& plan, const Step& step, int rank, const View& view,
                     const Call& call);

class CaseModel {
 public:
  explicit CaseModel(const Plan& plan);

  void set_view(const Step& step);
  /// What each rank's seek, of its own or of the shared file pointer, asks for; moves them.
  std::vector<Seek> seek(const Step& step);
  std::vector<Call> calls(const Step& step) const;
  /// Effect of a data access of all ranks on the file and the file pointers.
  void access(const Step& step, const std::vector<Call>& calls);

  /// File pointers in etypes. Where the standard leaves one open, it is set from outside.
  std::vector<int64_t>& positions() { return positions_; }
  const View& view(int rank) const { return views_[size_t(rank)]; }
  FileModel& file() { return file_; }

 private:
  const Plan& plan_;
  std::vector<View> views_;
  std::vector<int64_t> positions_;
  int64_t shared_ = 0;
  FileModel file_;
};

/// How many etypes of the view a call asks for: so far it moves a file pointer.
int64_t etypes_of(const Call& call, const View& view);

/// File pointer after a seek, in etypes.
int64_t seek_target(const Seek& seek, const View& view, int64_t position, int64_t file_size);

/// The whole case as text, rank by rank.
std::string describe(const Plan& plan);

}  // namespace oracle
