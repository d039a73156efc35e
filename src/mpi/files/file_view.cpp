#include "mpi/files/file_view.h"

#include <string.h>

#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/types/datatype.h"
#include "mpi/types/view_types.h"

namespace haichi::mpi {
namespace {

// Libraries such as HDF5 set a view for an access and take it back behind it: of two views one is
// asked for.
constexpr int kUnaskedBeforePuttingOff = 3;

}  // namespace

/// The types of a view, decoded.
struct FileView::Shapes {
  Shapes(MPI_Datatype etype, MPI_Datatype filetype)
      : elementary(decode_type(etype)), tile(decode_type(filetype)) {}
  Result<TypeShape> elementary, tile;
};

/// What the library gets in place of types that it cannot take in a view.
class FileView::Equivalent {
 public:
  Equivalent(MPI_Offset displacement, const Shapes& shapes, const char* datarep) {
    const auto& [elementary, tile] = shapes;
    if (!elementary || !tile || !datarep || strcmp(datarep, "native") != 0 ||
        (!needs_substitute(*elementary) && !needs_substitute(*tile)))
      return;
    if (const auto bytes = contiguous_bytes(elementary->size())) bytes_ = *bytes;
    if (const auto like = byte_type_like(*tile)) tile_ = *like;
    displacement_ = displacement + tile->pattern->begin();
  }
  ~Equivalent() {
    if (bytes_) real().Type_free(&*bytes_);
    if (tile_) real().Type_free(&*tile_);
  }
  Equivalent(const Equivalent&) = delete;
  Equivalent& operator=(const Equivalent&) = delete;

  explicit operator bool() const { return bytes_ && tile_; }
  int set(MPI_File file, MPI_Info info) const {
    return real().File_set_view(file, displacement_, *bytes_, *tile_, "native", info);
  }

 private:
  MPI_Offset displacement_ = 0;
  std::optional<MPI_Datatype> bytes_, tile_;
};

FileView::FileView(int unasked)
    : unasked_(unasked),
      user_etype_(handles().datatype_null),
      user_filetype_(handles().datatype_null) {}

int FileView::set(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                  const char* datarep, MPI_Info info) {
  std::optional<Shapes> shapes;  // nothing: put off
  if (unasked_ < kUnaskedBeforePuttingOff) shapes.emplace(etype, filetype);
  std::optional<Equivalent> equivalent;
  if (shapes) equivalent.emplace(displacement, *shapes, datarep);
  const bool substitutes = equivalent && *equivalent;
  const int result = substitutes
                         ? equivalent->set(file, info)
                         : real().File_set_view(file, displacement, etype, filetype, datarep, info);
  if (result != MPI_SUCCESS) return result;
  const std::lock_guard guard(mutex_);
  forget_types();
  displacement_ = displacement;
  converted_by_ = strcasecmp(datarep, "native") == 0 ? "" : datarep;
  if (unasked_ < kUnaskedBeforePuttingOff) ++unasked_;
  if (shapes)
    take(*shapes);
  else
    decoded_.reset();
  if (substitutes) remember_types(etype, filetype);
  return result;
}

int FileView::get(MPI_File file, MPI_Offset* displacement, MPI_Datatype* etype,
                  MPI_Datatype* filetype, char* datarep) {
  const int result = real().File_get_view(file, displacement, etype, filetype, datarep);
  const std::lock_guard guard(mutex_);
  if (result != MPI_SUCCESS || !substituted_) return result;
  *displacement = displacement_;
  real().Type_free(etype);
  real().Type_free(filetype);
  real().Type_dup(user_etype_, etype);
  real().Type_dup(user_filetype_, filetype);
  return result;
}

const DecodedView& FileView::of(MPI_File file) {
  const std::lock_guard guard(mutex_);
  unasked_ = 0;
  if (!decoded_) decode_late(file);
  return *decoded_;
}

report::Flattening FileView::flattening() const {
  const std::lock_guard guard(mutex_);
  return flattening_;
}

void FileView::take(const Shapes& shapes) {
  decoded_.emplace();
  const auto& [elementary, tile] = shapes;
  if (!elementary || !tile) {
    decoded_->refusal = (!elementary ? elementary : tile).error().text;
    return;
  }
  decoded_->etype_size = elementary->size();
  decoded_->view = {displacement_, tile->pattern, tile->extent};
  flattening_.note_view(tile->pattern->blocks(), tile->pattern->footprint());
  if (elementary->size() == 0) decoded_->refusal = "the etype holds no bytes";
}

void FileView::decode_late(MPI_File file) {
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
  char datarep[MPI_MAX_DATAREP_STRING + 1];
  if (real().File_get_view(file, &displacement, &etype, &filetype, datarep) != MPI_SUCCESS) {
    decoded_.emplace().refusal = "the MPI library does not tell the view";
    return;
  }
  take(Shapes(etype, filetype));
  free_unless_predefined(etype);
  free_unless_predefined(filetype);
}

void FileView::remember_types(MPI_Datatype etype, MPI_Datatype filetype) {
  substituted_ = real().Type_dup(etype, &user_etype_) == MPI_SUCCESS &&
                 real().Type_dup(filetype, &user_filetype_) == MPI_SUCCESS;
}

void FileView::forget_types() {
  substituted_ = false;
  for (MPI_Datatype* type : {&user_etype_, &user_filetype_})
    if (*type != handles().datatype_null) real().Type_free(type);
}

}  // namespace haichi::mpi
