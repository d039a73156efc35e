// One way of communicating, given as words. Usage:
//
//   comm-pattern LAUNCHED ROUNDS SECONDS WORD...
//
// A round is `calls` calls on a communicator that has seen none: with `comms` of more than 1 it is
// made and freed so often within the round, with `calls` calls each. ROUNDS is how many there are
// at most, fewer where they have taken SECONDS. LAUNCHED is the clock (CLOCK_MONOTONIC, seconds)
// when the job was launched. Prints one JSON line: for each round the time from the first rank's
// begin to the last one's end, and the time from the launch to the end of MPI_Finalize. It looks at
// no byte.
//
// Errors: exit code 2 for a bad word.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../library_name.h"
#include "../timing.h"
#include "words.h"

typedef enum {
  kNone,  // a job that does nothing
  kPingPong,
  kAllreduce,
  kBarrier,
  kBcast,
  kAlltoall,
  kAlltoallv,  // none to four times `size`
  kIAlltoall,
  kAllgather,
  kAllgatherv,
  kHalo,      // MPI_Neighbor_alltoall in two dimensions
  kSendrecv,  // the same by MPI_Sendrecv
  kFft,       // MPI_Alltoall in rows, then in columns, of a grid of ranks
  kCube,      // MPI_Isend and MPI_Irecv with all neighbours in three dimensions
  kGraph,     // the same in a sparse graph whose neighbours have ranks far apart
  kBtio,      // kSendrecv, and a collective write of pieces behind each round
} op_t;

#define OPS                                                                                       \
  "none|pingpong|allreduce|barrier|bcast|alltoall|alltoallv|ialltoall|allgather|allgatherv|halo|" \
  "sendrecv|fft|cube|graph|btio"
#define MOST_PEERS 6
#define WRITTEN_PIECE 1024
#define WRITTEN_PIECES 64

typedef struct {
  int op, open;
  int64_t size, calls, comms, grid_rows;
  int rank, ranks, column_bytes;
  const char* path;
  MPI_Comm comm, rows, columns, grid;
  MPI_File file;
  unsigned char *out, *in;
  int *out_bytes, *in_bytes, *out_at, *in_at;
} job_t;

static void pingpong(const job_t* j) {
  const int peer = j->ranks - 1, n = (int)j->size;
  if (j->rank == 0) {
    MPI_Send(j->out, n, MPI_BYTE, peer, 0, j->comm);
    MPI_Recv(j->in, n, MPI_BYTE, peer, 0, j->comm, MPI_STATUS_IGNORE);
  } else if (j->rank == peer) {
    MPI_Recv(j->in, n, MPI_BYTE, 0, 0, j->comm, MPI_STATUS_IGNORE);
    MPI_Send(j->out, n, MPI_BYTE, 0, 0, j->comm);
  }
}

static void sendrecv(const job_t* j) {
  const int n = (int)j->size;
  for (int d = 0; d < 2; ++d)
    for (int sign = -1; sign < 2; sign += 2) {
      int from, to;
      MPI_Cart_shift(j->grid, d, sign, &from, &to);
      MPI_Sendrecv(j->out, n, MPI_BYTE, to, d, j->in, n, MPI_BYTE, from, d, j->grid,
                   MPI_STATUS_IGNORE);
    }
}

// Messages with all of these at once.
static void exchange(const job_t* j, const int* peers, int count, MPI_Comm comm) {
  const int n = (int)j->size;
  MPI_Request requests[2 * MOST_PEERS];
  MPI_Status statuses[2 * MOST_PEERS];
  for (int i = 0; i < count; ++i)
    MPI_Irecv(j->in + (size_t)i * (size_t)n, n, MPI_BYTE, peers[i], 0, comm, &requests[i]);
  for (int i = 0; i < count; ++i)
    MPI_Isend(j->out, n, MPI_BYTE, peers[i], 0, comm, &requests[count + i]);
  MPI_Waitall(2 * count, requests, statuses);
}

static void cube(const job_t* j) {
  int peers[MOST_PEERS];
  for (int d = 0; d < 3; ++d) MPI_Cart_shift(j->grid, d, 1, &peers[2 * d], &peers[2 * d + 1]);
  exchange(j, peers, 6, j->grid);
}

static int common_divisor(int a, int b) { return b ? common_divisor(b, a % b) : a; }

// The ranks are a row in an order of steps of 5, in which each talks to the next two on both sides.
static void graph(const job_t* j) {
  int step = 5, place = 0, peers[MOST_PEERS], count = 0;
  while (common_divisor(j->ranks, step) != 1) ++step;  // or some ranks are not reached
  while (place * step % j->ranks != j->rank) ++place;
  for (int by = -2; by <= 2; ++by)
    if (by != 0 && place + by >= 0 && place + by < j->ranks)
      peers[count++] = (place + by) * step % j->ranks;
  exchange(j, peers, count, j->comm);
}

// Pieces of all ranks in turn.
static void write_pieces(const job_t* j) {
  words_check(MPI_File_write_all(j->file, j->in, WRITTEN_PIECES * WRITTEN_PIECE, MPI_BYTE,
                                 MPI_STATUS_IGNORE),
              "MPI_File_write_all");
}

static void open_file(job_t* j) {
  MPI_Datatype vector, pieces;
  const int turn = WRITTEN_PIECE * j->ranks;  // a piece of each rank
  words_check(MPI_File_open(MPI_COMM_WORLD, j->path, MPI_MODE_CREATE | MPI_MODE_WRONLY,
                            MPI_INFO_NULL, &j->file),
              j->path);
  MPI_Type_vector(WRITTEN_PIECES, WRITTEN_PIECE, turn, MPI_BYTE, &vector);
  MPI_Type_create_resized(vector, 0, (MPI_Aint)WRITTEN_PIECES * turn, &pieces);
  MPI_Type_commit(&pieces);
  MPI_Type_free(&vector);
  words_check(MPI_File_set_view(j->file, (MPI_Offset)j->rank * WRITTEN_PIECE, MPI_BYTE, pieces,
                                "native", MPI_INFO_NULL),
              "MPI_File_set_view");
  MPI_Type_free(&pieces);
}

static void call_once(const job_t* j) {
  const int n = (int)j->size;
  MPI_Request request;
  switch ((op_t)j->op) {
    case kNone:
      break;
    case kPingPong:
      pingpong(j);
      break;
    case kAllreduce:
      MPI_Allreduce(j->out, j->in, n / 8, MPI_DOUBLE, MPI_MAX, j->comm);
      break;
    case kBarrier:
      MPI_Barrier(j->comm);
      break;
    case kBcast:
      MPI_Bcast(j->out, n, MPI_BYTE, 0, j->comm);
      break;
    case kAlltoall:
      MPI_Alltoall(j->out, n, MPI_BYTE, j->in, n, MPI_BYTE, j->comm);
      break;
    case kAlltoallv:
      MPI_Alltoallv(j->out, j->out_bytes, j->out_at, MPI_BYTE, j->in, j->in_bytes, j->in_at,
                    MPI_BYTE, j->comm);
      break;
    case kIAlltoall:
      MPI_Ialltoall(j->out, n, MPI_BYTE, j->in, n, MPI_BYTE, j->comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case kAllgather:
      MPI_Allgather(j->out, n, MPI_BYTE, j->in, n, MPI_BYTE, j->comm);
      break;
    case kAllgatherv:
      MPI_Allgatherv(j->out, j->in_bytes[j->rank], MPI_BYTE, j->in, j->in_bytes, j->in_at, MPI_BYTE,
                     j->comm);
      break;
    case kHalo:
      MPI_Neighbor_alltoall(j->out, n, MPI_BYTE, j->in, n, MPI_BYTE, j->grid);
      break;
    case kSendrecv:
    case kBtio:
      sendrecv(j);
      break;
    case kCube:
      cube(j);
      break;
    case kGraph:
      graph(j);
      break;
    case kFft:
      MPI_Alltoall(j->out, n, MPI_BYTE, j->in, n, MPI_BYTE, j->rows);
      MPI_Alltoall(j->in, j->column_bytes, MPI_BYTE, j->out, j->column_bytes, MPI_BYTE, j->columns);
      break;
  }
}

static void make_comms(job_t* j) {
  MPI_Comm_dup(MPI_COMM_WORLD, &j->comm);
  const int dimensions = j->op == kCube ? 3 : 2;
  int shape[3] = {(int)j->grid_rows, 0, 0};
  const int periodic[3] = {!j->open, !j->open, !j->open};
  MPI_Dims_create(j->ranks, dimensions, shape);
  if (j->op == kHalo || j->op == kSendrecv || j->op == kCube || j->op == kBtio)
    MPI_Cart_create(j->comm, dimensions, shape, periodic, 0, &j->grid);
  if (j->op == kFft) {
    // Where the shape is asked for, as many bytes go through columns as through rows.
    j->column_bytes = (int)(j->grid_rows ? j->size * shape[1] / shape[0] : j->size);
    MPI_Comm_split(j->comm, j->rank / shape[1], j->rank, &j->rows);
    MPI_Comm_split(j->comm, j->rank % shape[1], j->rank, &j->columns);
  }
}

static void free_comms(job_t* j) {
  MPI_Comm* all[] = {&j->rows, &j->columns, &j->grid, &j->comm};
  for (int i = 0; i < 4; ++i)
    if (*all[i] != MPI_COMM_NULL) MPI_Comm_free(all[i]);
}

// Blocks of the exchanges in which they differ. One in four of an all-to-all has four times as
// much, the others none; what is gathered of a rank is up to twice as much.
static void make_blocks(job_t* j) {
  int* numbers = calloc(4 * (size_t)j->ranks, sizeof *numbers);
  j->out_bytes = numbers, j->in_bytes = numbers + j->ranks;
  j->out_at = numbers + 2 * j->ranks, j->in_at = numbers + 3 * j->ranks;
  const int n = (int)j->size;
  for (int peer = 0, out = 0, in = 0; peer < j->ranks; ++peer) {
    if (j->op == kAllgatherv) {
      j->in_bytes[peer] = n / 2 + peer * 3 % 4 * (n / 2);
    } else {
      j->out_bytes[peer] = (j->rank * 7 + peer * 3) % 4 == 0 ? 4 * n : 0;
      j->in_bytes[peer] = (peer * 7 + j->rank * 3) % 4 == 0 ? 4 * n : 0;
    }
    j->out_at[peer] = out, j->in_at[peer] = in;
    out += j->out_bytes[peer], in += j->in_bytes[peer];
  }
  const size_t room = 4 * (size_t)(j->ranks + 1) * (size_t)(n + 8);
  j->out = calloc(room, 1), j->in = calloc(room, 1);
  if (!j->out || !j->in) words_check(MPI_ERR_NO_MEM, "calloc");
}

// Seconds of a round.
static double round_once(job_t* j) {
  double begin, end;
  if (j->comms == 1) make_comms(j);
  MPI_Barrier(MPI_COMM_WORLD);
  begin = clock_now();
  for (int64_t comm = 0; comm < j->comms; ++comm) {
    if (j->comms > 1) make_comms(j);
    for (int64_t call = 0; call < j->calls; ++call) call_once(j);
    if (j->comms > 1) free_comms(j);
  }
  if (j->op == kBtio) write_pieces(j);
  end = clock_now();
  if (j->comms == 1) free_comms(j);
  return timing_span(MPI_COMM_WORLD, begin, end);
}

static void run(job_t* j, int64_t rounds, double limit) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  double spent = 0;
  if (j->rank == 0)
    printf("{\"program\": \"comm-pattern\", \"mpi\": \"%s\", \"results\": [",
           library_name(library));
  for (int64_t round = 0; j->op != kNone && round < rounds && spent < limit; ++round) {
    const double seconds = round_once(j);
    spent += seconds;
    if (j->rank == 0) printf("%s{\"op\": \"run\", \"seconds\": %.7f}", round ? ", " : "", seconds);
  }
}

int main(int argc, char** argv) {
  job_t job = {.size = 8,
               .calls = 1,
               .comms = 1,
               .comm = MPI_COMM_NULL,
               .rows = MPI_COMM_NULL,
               .columns = MPI_COMM_NULL,
               .grid = MPI_COMM_NULL};
  const word_t words[] = {{"op", &job.op, OPS, 0},           {"size", &job.size, NULL, 0},
                          {"calls", &job.calls, NULL, 0},    {"comms", &job.comms, NULL, 0},
                          {"rows", &job.grid_rows, NULL, 0}, {"grid", &job.open, "closed|open", 0},
                          {"file", &job.path, NULL, 1},      {NULL, NULL, NULL, 0}};
  MPI_Init(&argc, &argv);
  if (argc < 4) words_refuse("usage: comm-pattern LAUNCHED ROUNDS SECONDS WORD...");
  words_read(argc, argv, 4, words);
  if (job.comms < 1) words_refuse("comms is 1 at least");
  if ((job.op == kBtio) != (job.path != NULL)) words_refuse("file=PATH belongs to op=btio");
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  if (job.grid_rows && job.ranks % job.grid_rows) words_refuse("rows has to divide the ranks");
  make_blocks(&job);
  if (job.op == kBtio) open_file(&job);
  const char* rounds = argv[2];
  run(&job, words_next_number(&rounds), atof(argv[3]));
  if (job.op == kBtio) MPI_File_close(&job.file);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  long own = usage.ru_maxrss, most = 0;
  MPI_Reduce(&own, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  free(job.out);
  free(job.in);
  free(job.out_bytes);
  MPI_Finalize();
  if (job.rank == 0)
    printf("], \"job_s\": %.4f, \"peak_kib\": %ld}\n", clock_now() - atof(argv[1]), most);
  return 0;
}
