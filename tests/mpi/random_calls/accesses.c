#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_calls.h"

enum { kCells = 512 };

/* A window of kCells ints at each rank, which are 0. */
static MPI_Win make_window(const struct Comm* c, int kind, int** memory) {
  const MPI_Aint bytes = kCells * (MPI_Aint)sizeof(int);
  MPI_Win window;
  switch (kind) {
    case 0:
      *memory = room((size_t)bytes);
      MPI_Win_create(*memory, bytes, sizeof(int), MPI_INFO_NULL, c->comm, &window);
      break;
    case 1:
      MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, c->comm, memory, &window);
      break;
    default:
      MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, c->comm, memory, &window);
  }
  memset(*memory, 0, (size_t)bytes);
  MPI_Barrier(c->comm);
  return window;
}

struct Access {
  int out[kCells], in[kCells], n;
};

/* Accesses of which each is to cells that no other rank accesses at that target. */
static int access_once(MPI_Win window, int to, struct Access* a, MPI_Request* request) {
  const int n = a->n;
  *request = MPI_REQUEST_NULL;
  switch (draw(6)) {
    case 0:
      MPI_Put(a->out, n, MPI_INT, to, 0, n, MPI_INT, window);
      return 0;
    case 1:
      MPI_Get(a->in, n, MPI_INT, to, 0, n, MPI_INT, window);
      return 1;
    case 2:
      MPI_Accumulate(a->out, n, MPI_INT, to, 0, n, MPI_INT, MPI_SUM, window);
      return 0;
    case 3:
      MPI_Get_accumulate(a->out, n, MPI_INT, a->in, n, MPI_INT, to, 0, n, MPI_INT, MPI_SUM, window);
      return 1;
    case 4:
      MPI_Fetch_and_op(a->out, a->in, MPI_INT, to, 0, MPI_SUM, window);
      return 1;
    default:
      MPI_Compare_and_swap(a->out, a->in + 1, a->in, MPI_INT, to, 0, window);
      return 1;
  }
}

static int ask(MPI_Win window, int to, struct Access* a, MPI_Request* request) {
  const int n = a->n;
  switch (draw(4)) {
    case 0:
      MPI_Rput(a->out, n, MPI_INT, to, 0, n, MPI_INT, window, request);
      return 0;
    case 1:
      MPI_Rget(a->in, n, MPI_INT, to, 0, n, MPI_INT, window, request);
      return 1;
    case 2:
      MPI_Raccumulate(a->out, n, MPI_INT, to, 0, n, MPI_INT, MPI_SUM, window, request);
      return 0;
    default:
      MPI_Rget_accumulate(a->out, n, MPI_INT, a->in, n, MPI_INT, to, 0, n, MPI_INT, MPI_SUM, window,
                          request);
      return 1;
  }
}

static void under_locks(MPI_Win window, int way, int to, struct Access* a) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int asks = draw(2);
  if (way == 1)
    MPI_Win_lock(draw(2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0, window);
  else
    MPI_Win_lock_all(SOMETIMES(2) ? MPI_MODE_NOCHECK : 0, window);
  if (asks)
    ask(window, to, a, &request);
  else
    access_once(window, to, a, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  switch (draw(5)) {
    case 0:
      MPI_Win_flush(to, window);
      break;
    case 1:
      MPI_Win_flush_local(to, window);
      break;
    case 2:
      if (way != 1) MPI_Win_flush_all(window);
      break;
    case 3:
      if (way != 1) MPI_Win_flush_local_all(window);
      break;
    default:
      MPI_Win_sync(window);
  }
  if (way == 1)
    MPI_Win_unlock(to, window);
  else
    MPI_Win_unlock_all(window);
}

void step_window(const struct Comm* c) {
  int *memory, to, from;
  MPI_Request request;
  /* Shared memory is for ranks of one node, as those of tests are. */
  const int kind = draw(3), way = draw(3), rounds = 1 + draw(3), asserts = draw(2);
  struct Access* const a = room(sizeof *a);
  a->n = 1 + draw(kCells - 1);
  neighbours(c, 1 + draw(3), &to, &from);
  MPI_Win window = make_window(c, kind, &memory);
  for (int i = 0; i < rounds; ++i) {
    fill(a->out, sizeof a->out, (unsigned)(c->rank + i));
    if (way == 0) {
      MPI_Win_fence(asserts ? MPI_MODE_NOPRECEDE : 0, window);
      access_once(window, to, a, &request);
      MPI_Win_fence(asserts ? MPI_MODE_NOSUCCEED : 0, window);
    } else {
      under_locks(window, way, to, a);
      MPI_Barrier(c->comm);
    }
    take(a->in, sizeof a->in);
    MPI_Barrier(c->comm);
  }
  if (kind == 2) {
    MPI_Aint bytes;
    int unit;
    void* base;
    MPI_Win_shared_query(window, 0, &bytes, &unit, &base);
    take_number((long)bytes);
  }
  if (way == 0) take(memory, kCells * sizeof(int));
  MPI_Win_free(&window);
  if (kind == 0) free(memory);
  free(a);
}

/* Post, start, complete and wait; or memory that is attached later. */
void step_posted_window(const struct Comm* c) {
  int *memory, to, from, flag = 0;
  const int looks = draw(2), dynamic = draw(2);
  struct Access* const a = room(sizeof *a);
  neighbours(c, 1, &to, &from);
  fill(a->out, sizeof a->out, (unsigned)c->rank);
  MPI_Win window;
  if (dynamic) {
    /* Open MPI has none for some communicators. */
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(c->comm, &handler);
    MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN);
    const int code = MPI_Win_create_dynamic(MPI_INFO_NULL, c->comm, &window);
    MPI_Comm_set_errhandler(c->comm, handler);
    MPI_Errhandler_free(&handler);
    if (code != MPI_SUCCESS) {
      free(a);
      return;
    }
    memory = room(kCells * sizeof(int));
    MPI_Win_attach(window, memory, kCells * sizeof(int));
    MPI_Aint mine, other = 0;
    MPI_Get_address(memory, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, from, 1, &other, 1, MPI_AINT, to, 1, c->comm,
                 MPI_STATUS_IGNORE);
    MPI_Win_fence(0, window);
    MPI_Put(a->out, 8, MPI_INT, to, other, 8, MPI_INT, window);
    MPI_Win_fence(0, window);
    take(memory, kCells * sizeof(int));
    MPI_Win_detach(window, memory);
    MPI_Win_free(&window);
    free(memory);
  } else {
    MPI_Group all, target, origin;
    window = make_window(c, 1, &memory);
    MPI_Comm_group(c->comm, &all);
    MPI_Group_incl(all, 1, &to, &target);
    MPI_Group_incl(all, 1, &from, &origin);
    MPI_Win_post(origin, 0, window);
    MPI_Win_start(target, 0, window);
    MPI_Put(a->out, 100, MPI_INT, to, 0, 100, MPI_INT, window);
    MPI_Win_complete(window);
    while (looks && !flag) MPI_Win_test(window, &flag);
    if (!looks) MPI_Win_wait(window);
    take(memory, kCells * sizeof(int));
    MPI_Group_free(&all);
    MPI_Group_free(&target);
    MPI_Group_free(&origin);
    MPI_Win_free(&window);
  }
  free(a);
}

static MPI_File open_file(const struct Comm* c) {
  static int files;
  char path[4096];
  MPI_File file;
  snprintf(path, sizeof path, "%s/file-%d-%d", folder, leader_of(c), ++files);
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, c->comm);
  const int once = SOMETIMES(2) ? MPI_MODE_DELETE_ON_CLOSE : 0;
  const int code =
      MPI_File_open(c->comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR | once, MPI_INFO_NULL, &file);
  if (code != MPI_SUCCESS) broken("no file");
  return file;
}

/* Ranks in turns of `n` ints. */
static void set_view(const struct Comm* c, MPI_File file, int n) {
  MPI_Datatype turns;
  MPI_Type_vector(4, n, n * c->size, MPI_INT, &turns);
  MPI_Type_commit(&turns);
  MPI_File_set_view(file, (MPI_Offset)sizeof(int) * n * c->rank, MPI_INT, turns, "native",
                    MPI_INFO_NULL);
  MPI_Type_free(&turns);
}

/* Writes n ints at `at`; each rank has its own place. */
static void write_some(MPI_File f, MPI_Offset at, const int* out, int n) {
  MPI_Request r = MPI_REQUEST_NULL;
  MPI_Status s;
  switch (draw(10)) {
    case 0:
      MPI_File_write_at(f, at, out, n, MPI_INT, &s);
      break;
    case 1:
      MPI_File_write_at_all(f, at, out, n, MPI_INT, &s);
      break;
    case 2:
      MPI_File_seek(f, at, MPI_SEEK_SET);
      MPI_File_write(f, out, n, MPI_INT, &s);
      break;
    case 3:
      MPI_File_seek(f, at, MPI_SEEK_SET);
      MPI_File_write_all(f, out, n, MPI_INT, &s);
      break;
    case 4:
      MPI_File_iwrite_at(f, at, out, n, MPI_INT, &r);
      break;
    case 5:
      MPI_File_iwrite_at_all(f, at, out, n, MPI_INT, &r);
      break;
    case 6:
      MPI_File_seek(f, at, MPI_SEEK_SET);
      MPI_File_iwrite_all(f, out, n, MPI_INT, &r);
      break;
    case 7:
      MPI_File_write_at_all_begin(f, at, out, n, MPI_INT);
      MPI_File_write_at_all_end(f, out, &s);
      break;
    case 8:
      MPI_File_seek(f, at, MPI_SEEK_SET);
      MPI_File_write_all_begin(f, out, n, MPI_INT);
      MPI_File_write_all_end(f, out, &s);
      break;
    default:
      MPI_File_seek(f, at, MPI_SEEK_SET);
      MPI_File_iwrite(f, out, n, MPI_INT, &r);
  }
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void read_some(MPI_File f, MPI_Offset at, int* in, int n) {
  MPI_Request r = MPI_REQUEST_NULL;
  MPI_Status s;
  switch (draw(8)) {
    case 0:
      MPI_File_read_at(f, at, in, n, MPI_INT, &s);
      break;
    case 1:
      MPI_File_read_at_all(f, at, in, n, MPI_INT, &s);
      break;
    case 2:
      MPI_File_seek(f, at, MPI_SEEK_SET);
      MPI_File_read(f, in, n, MPI_INT, &s);
      break;
    case 3:
      MPI_File_seek(f, at, MPI_SEEK_SET);
      MPI_File_read_all(f, in, n, MPI_INT, &s);
      break;
    case 4:
      MPI_File_iread_at(f, at, in, n, MPI_INT, &r);
      break;
    case 5:
      MPI_File_iread_at_all(f, at, in, n, MPI_INT, &r);
      break;
    case 6:
      MPI_File_read_at_all_begin(f, at, in, n, MPI_INT);
      MPI_File_read_at_all_end(f, in, &s);
      break;
    default:
      MPI_File_seek(f, at, MPI_SEEK_SET);
      MPI_File_iread(f, in, n, MPI_INT, &r);
  }
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

void step_file(const struct Comm* c) {
  static const int sizes[] = {1, 7, 100, 3000, 20000};
  const int n = sizes[draw(5)], views = draw(2), rounds = 1 + draw(3);
  MPI_File file = open_file(c);
  int *const out = room(sizeof(int) * (size_t)n), *const in = room(sizeof(int) * (size_t)n);
  MPI_Offset size;
  if (SOMETIMES(3)) MPI_File_set_size(file, 64);
  if (SOMETIMES(5)) MPI_File_preallocate(file, 128);
  if (SOMETIMES(6)) MPI_File_set_atomicity(file, 1);
  if (views) set_view(c, file, n);
  for (int i = 0; i < rounds; ++i) {
    fill(out, sizeof(int) * (size_t)n, (unsigned)(c->rank + i));
    const MPI_Offset place =
        views ? (MPI_Offset)n * i : (MPI_Offset)sizeof(int) * n * (i * c->size + c->rank);
    write_some(file, place, out, n);
    if (SOMETIMES(2)) MPI_File_sync(file);
    read_some(file, place, in, n);
    take(in, sizeof(int) * (size_t)n);
  }
  MPI_File_sync(file);
  MPI_Barrier(c->comm);
  MPI_File_get_size(file, &size);
  take_number((long)size);
  MPI_File_close(&file);
  free(out);
  free(in);
}

/* By a pointer that all share: each writes the same, so whoever comes first. */
void step_shared_file(const struct Comm* c) {
  const int n = 1 + draw(300), way = draw(4);
  MPI_File file = open_file(c);
  int *const out = room(sizeof(int) * (size_t)n), *const in = room(sizeof(int) * (size_t)n);
  MPI_Request r = MPI_REQUEST_NULL;
  MPI_Status s;
  fill(out, sizeof(int) * (size_t)n, 5);
  switch (way) {
    case 0:
      MPI_File_write_shared(file, out, n, MPI_INT, &s);
      break;
    case 1:
      MPI_File_write_ordered(file, out, n, MPI_INT, &s);
      break;
    case 2:
      MPI_File_iwrite_shared(file, out, n, MPI_INT, &r);
      break;
    default:
      MPI_File_write_ordered_begin(file, out, n, MPI_INT);
      MPI_File_write_ordered_end(file, out, &s);
  }
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(c->comm);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  switch (way) {
    case 0:
      MPI_File_read_shared(file, in, n, MPI_INT, &s);
      break;
    case 1:
      MPI_File_read_ordered(file, in, n, MPI_INT, &s);
      break;
    case 2:
      MPI_File_iread_shared(file, in, n, MPI_INT, &r);
      break;
    default:
      MPI_File_read_ordered_begin(file, in, n, MPI_INT);
      MPI_File_read_ordered_end(file, in, &s);
  }
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  take(in, sizeof(int) * (size_t)n);
  MPI_Barrier(c->comm);
  MPI_File_close(&file);
  free(out);
  free(in);
}
