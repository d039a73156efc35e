// The view of a handle (MPI 4.1, section 14.3), and what the bytes of it are.
//
// To decode a type takes as long as a small access. Programs that set a view for every access have
// it decoded for nothing while their accesses are the MPI library's; so where nobody asked for the
// last views, the next is decoded when somebody does: the library tells its types.
#pragma once

#include <mpi.h>

#include <mutex>
#include <optional>
#include <string>

#include "mpiio/regions/access.h"
#include "report/records.h"

namespace haichi::mpi {

/// A view as haichi needs it.
struct DecodedView {
  mpiio::View view;
  int64_t etype_size = 1;
  std::string refusal;  ///< why haichi cannot use it; empty: it can
};

/// Owns duplicates of the program's types where the library got equivalents. Views change in
/// collective calls; of() may be called by any thread between them.
class FileView {
 public:
  /// Views in a row that nobody asked for, before this one.
  explicit FileView(int unasked);
  ~FileView() { forget_types(); }
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;

  /// MPI_File_set_view. Returns the library's code; unless that is MPI_SUCCESS nothing changes.
  int set(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
          const char* datarep, MPI_Info info);
  /// MPI_File_get_view: the types that the program gave, not the equivalents that the library got.
  int get(MPI_File file, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
          char* datarep);

  /// What it decodes to. Local. Valid until the next view is set.
  const DecodedView& of(MPI_File file);
  /// The data representation, if it is not the native one, which is empty here.
  const std::string& converted_by() const { return converted_by_; }
  /// Views in a row that nobody asked for, this one counted.
  int unasked() const { return unasked_; }
  /// For the report, of all views that were decoded.
  report::Flattening flattening() const;

 private:
  struct Shapes;
  class Equivalent;
  void take(const Shapes& shapes);
  void decode_late(MPI_File file);
  void remember_types(MPI_Datatype etype, MPI_Datatype filetype);
  void forget_types();

  mutable std::mutex mutex_;
  std::optional<DecodedView> decoded_ = DecodedView{};  // nothing: put off
  int unasked_;
  MPI_Offset displacement_ = 0;
  std::string converted_by_;
  report::Flattening flattening_;
  bool substituted_ = false;  // the library got equivalents of the types below
  MPI_Datatype user_etype_, user_filetype_;
};

}  // namespace haichi::mpi
