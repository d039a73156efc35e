#include "calls.h"

#include "words.h"

int call_has_offset(int call) {
  return call == kAtAll || call == kIAtAll || call == kSplitAt || call == kAt || call == kIAt;
}

static int split(int with_offset, int writing, MPI_File file, MPI_Offset offset, void* buffer,
                 int count, MPI_Datatype type) {
  MPI_Status* const none = MPI_STATUS_IGNORE;
  int code;
  if (with_offset) {
    code = writing ? MPI_File_write_at_all_begin(file, offset, buffer, count, type)
                   : MPI_File_read_at_all_begin(file, offset, buffer, count, type);
    words_check(code, "a split call with an offset");
    return writing ? MPI_File_write_at_all_end(file, buffer, none)
                   : MPI_File_read_at_all_end(file, buffer, none);
  }
  code = writing ? MPI_File_write_all_begin(file, buffer, count, type)
                 : MPI_File_read_all_begin(file, buffer, count, type);
  words_check(code, "a split call");
  return writing ? MPI_File_write_all_end(file, buffer, none)
                 : MPI_File_read_all_end(file, buffer, none);
}

void call_make(int call, int w, MPI_File f, MPI_Offset at, void* b, const memory_t* memory,
               MPI_Request* request) {
  MPI_Status* const none = MPI_STATUS_IGNORE;
  const int n = memory->count;
  const MPI_Datatype t = memory->type;
  int code = MPI_SUCCESS;
  *request = MPI_REQUEST_NULL;
  switch ((call_t)call) {
    case kAll:
      code = w ? MPI_File_write_all(f, b, n, t, none) : MPI_File_read_all(f, b, n, t, none);
      break;
    case kAtAll:
      code = w ? MPI_File_write_at_all(f, at, b, n, t, none)
               : MPI_File_read_at_all(f, at, b, n, t, none);
      break;
    case kIAll:
      code = w ? MPI_File_iwrite_all(f, b, n, t, request) : MPI_File_iread_all(f, b, n, t, request);
      break;
    case kIAtAll:
      code = w ? MPI_File_iwrite_at_all(f, at, b, n, t, request)
               : MPI_File_iread_at_all(f, at, b, n, t, request);
      break;
    case kSplit:
      code = split(0, w, f, at, b, n, t);
      break;
    case kSplitAt:
      code = split(1, w, f, at, b, n, t);
      break;
    case kOrdered:
      code = w ? MPI_File_write_ordered(f, b, n, t, none) : MPI_File_read_ordered(f, b, n, t, none);
      break;
    case kAt:
      code = w ? MPI_File_write_at(f, at, b, n, t, none) : MPI_File_read_at(f, at, b, n, t, none);
      break;
    case kIAt:
      code = w ? MPI_File_iwrite_at(f, at, b, n, t, request)
               : MPI_File_iread_at(f, at, b, n, t, request);
      break;
    case kIndividual:
      code = w ? MPI_File_write(f, b, n, t, none) : MPI_File_read(f, b, n, t, none);
      break;
  }
  words_check(code, "a call of the pattern");
}
