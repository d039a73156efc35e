// One way of writing and reading files, given as words (layout.h, memory.h, calls.h). Usage:
//
//   io-pattern FILE ROUNDS SECONDS WORD...
//
// A round is a whole section of a job: `opens` files are created, written by `calls` calls and
// closed, one after the other; all writes come first, then as many rounds of reads. ROUNDS is how
// many there are at most, fewer where they have taken SECONDS; `W,R` are those of writes and reads.
// Prints one JSON line: for each round the time of the section and that of its calls alone, from
// the first rank's begin to the last one's end. It looks at no byte: other programs do.
//
// Errors: exit code 2 for a bad word, 1 if an MPI call fails.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../library_name.h"
#include "../timing.h"
#include "calls.h"
#include "layout.h"
#include "memory.h"
#include "words.h"

typedef struct {
  file_words_t file;
  int call, memory, view, each, self, shift, atomic, sync;
  int64_t memory_piece, opens, depth;
  const char* hints;  // KEY:VALUE,KEY:VALUE
} pattern_t;

typedef struct {
  const char* path;
  pattern_t pattern;
  MPI_Comm comm;  // of the files
  MPI_Info info;
  int rank, ranks;        // in it
  unsigned char* buffer;  // `depth` times the memory of a call
  int64_t room;           // of one call, in bytes
  MPI_Request* requests;  // `depth`
  double *begins, *ends;  // of the calls, by open
  char name[4096];
} job_t;

static pattern_t read_pattern(int argc, char** argv) {
  pattern_t p = {.file = {.piece = 1024, .pieces = 1, .calls = 1, .array = "32x32x32"},
                 .view = 1,
                 .memory_piece = 8,
                 .opens = 1,
                 .depth = 1};
  const word_t words[] = {{"call", &p.call, CALLS, 0},
                          {"shape", &p.file.shape, SHAPES, 0},
                          {"piece", &p.file.piece, NULL, 0},
                          {"pieces", &p.file.pieces, NULL, 0},
                          {"gap", &p.file.gap, NULL, 0},
                          {"header", &p.file.header, NULL, 0},
                          {"far", &p.file.far, NULL, 0},
                          {"seed", &p.file.seed, NULL, 0},
                          {"array", &p.file.array, NULL, 1},
                          {"unknowns", &p.file.unknowns, NULL, 1},
                          {"type", &p.file.darray, "subarray|darray", 0},
                          {"calls", &p.file.calls, NULL, 0},
                          {"opens", &p.opens, NULL, 0},
                          {"depth", &p.depth, NULL, 0},
                          {"memory", &p.memory, MEMORIES, 0},
                          {"memory-piece", &p.memory_piece, NULL, 0},
                          {"view", &p.view, "no|yes", 0},
                          {"views", &p.each, "once|each", 0},
                          {"comm", &p.self, "world|self", 0},
                          {"reader", &p.shift, "same|next", 0},
                          {"atomic", &p.atomic, "no|yes", 0},
                          {"sync", &p.sync, "no|yes", 0},
                          {"hints", &p.hints, NULL, 1},
                          {NULL, NULL, NULL, 0}};
  words_read(argc, argv, 4, words);
  const file_words_t* f = &p.file;
  if (f->piece < 1 || f->pieces < 1 || f->calls < 1 || p.opens < 1 || p.depth < 1 ||
      p.memory_piece < 1)
    words_refuse("piece, pieces, calls, opens, depth and memory-piece are 1 at least");
  if (!p.view && !call_has_offset(p.call) && p.call != kOrdered)
    words_refuse("without a view and an offset all ranks write the same bytes");
  if (f->unknowns && !p.each) words_refuse("unknowns=%s needs views=each", f->unknowns);
  return p;
}

static MPI_Info info_of(const char* hints) {
  MPI_Info info = MPI_INFO_NULL;
  if (!hints || !*hints) return info;
  char* copy = strdup(hints);
  MPI_Info_create(&info);
  for (char *at = copy, *one; (one = strsep(&at, ","));) {
    char* colon = strchr(one, ':');
    if (!colon) words_refuse("hints=%s: use KEY:VALUE,KEY:VALUE", hints);
    *colon = '\0';
    words_check(MPI_Info_set(info, one, colon + 1), "MPI_Info_set");
  }
  free(copy);
  return info;
}

static const char* name_of(job_t* job, int64_t open) {
  int world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  snprintf(job->name, sizeof job->name, "%s.%lld.%d", job->path, (long long)open,
           job->pattern.self ? world : 0);
  return job->name;
}

static void delete_all(job_t* job) {
  for (int64_t open = 0; job->rank == 0 && open < job->pattern.opens; ++open)
    remove(name_of(job, open));  // it need not be there
  MPI_Barrier(MPI_COMM_WORLD);
}

static void set_view(job_t* job, MPI_File file, MPI_Offset at, MPI_Datatype type) {
  words_check(MPI_File_set_view(file, at, MPI_BYTE, type, "native", job->info),
              "MPI_File_set_view");
}

// Waits for the calls that are under way, and puts the data on the disk if that is asked for.
static void settle(job_t* job, MPI_File file, int64_t call, int writing) {
  const int64_t depth = job->pattern.depth;
  if ((call + 1) % depth != 0 && call + 1 != job->pattern.file.calls) return;
  MPI_Status* statuses = malloc((size_t)depth * sizeof *statuses);
  words_check(MPI_Waitall((int)(call % depth) + 1, job->requests, statuses), "MPI_Waitall");
  free(statuses);
  if (job->pattern.sync && writing) words_check(MPI_File_sync(file), "MPI_File_sync");
}

static void one_call(job_t* job, MPI_File file, int writing, int64_t call, MPI_Offset offset,
                     const memory_t* memory) {
  const int64_t slot = call % job->pattern.depth;
  call_make(job->pattern.call, writing, file, offset, job->buffer + slot * job->room, memory,
            &job->requests[slot]);
  settle(job, file, call, writing);
}

// The view is set once, or offsets are given without one.
static void calls_with_one_view(job_t* job, MPI_File file, int writing, const layout_t* layout,
                                const memory_t* memory) {
  const pattern_t* p = &job->pattern;
  if (p->view) set_view(job, file, layout->displacement, layout->filetype);
  for (int64_t call = 0; call < p->file.calls; ++call) {
    const MPI_Offset in_view = call * layout->bytes;
    const MPI_Offset in_file = layout->displacement + call * layout->extent;
    one_call(job, file, writing, call, p->view ? in_view : in_file, memory);
  }
}

// A new view before each call and none behind it, as HDF5 and PnetCDF have it.
static void calls_with_own_views(job_t* job, MPI_File file, int writing, int as_rank) {
  const pattern_t* p = &job->pattern;
  MPI_Offset base = 0;
  for (int64_t call = 0; call < p->file.calls; ++call) {
    layout_t layout = layout_make(&p->file, as_rank, job->ranks, call, 1);
    memory_t memory = memory_make(p->memory, p->memory_piece, layout.bytes);
    set_view(job, file, base + layout.displacement, layout.filetype);
    one_call(job, file, writing, call, 0, &memory);
    set_view(job, file, 0, MPI_BYTE);
    base += layout.extent;
    memory_free(&memory);
    layout_free(&layout);
  }
}

// Collective. A section of the job: the seconds of all of it, and of the calls alone.
static void section(job_t* job, int writing, double seconds[2]) {
  const pattern_t* p = &job->pattern;
  const int as_rank = p->shift && !writing ? (job->rank + 1) % job->ranks : job->rank;
  layout_t layout = layout_make(&p->file, as_rank, job->ranks, 0, p->each);
  if (!p->view && !layout.contiguous) words_refuse("view=no is for bytes that lie in a row");
  memory_t memory = memory_make(p->memory, p->memory_piece, layout.bytes);
  if (writing) delete_all(job);
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = clock_now();
  for (int64_t open = 0; open < p->opens; ++open) {
    MPI_File file;
    const int mode = writing ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;
    words_check(MPI_File_open(job->comm, name_of(job, open), mode, job->info, &file),
                "MPI_File_open");
    if (p->atomic) words_check(MPI_File_set_atomicity(file, 1), "MPI_File_set_atomicity");
    job->begins[open] = clock_now();
    if (p->each)
      calls_with_own_views(job, file, writing, as_rank);
    else
      calls_with_one_view(job, file, writing, &layout, &memory);
    job->ends[open] = clock_now();
    words_check(MPI_File_close(&file), "MPI_File_close");
  }
  double end = clock_now();
  seconds[0] = timing_span(MPI_COMM_WORLD, begin, end);
  seconds[1] = 0;
  for (int open = 0; open < p->opens; ++open)
    seconds[1] += timing_span(MPI_COMM_WORLD, job->begins[open], job->ends[open]);
  memory_free(&memory);
  layout_free(&layout);
}

// Room for any call of any rank.
static void make_room(job_t* job) {
  const pattern_t* p = &job->pattern;
  int64_t most = 1;
  const int64_t kinds = p->file.unknowns ? p->file.calls : 1;
  for (int as = 0; as < 2; ++as)
    for (int64_t call = 0; call < kinds; ++call) {
      layout_t layout =
          layout_make(&p->file, (job->rank + as) % job->ranks, job->ranks, call, p->each);
      memory_t memory = memory_make(p->memory, p->memory_piece, layout.bytes);
      if (memory.span > most) most = memory.span;
      memory_free(&memory);
      layout_free(&layout);
    }
  job->room = (most + 63) / 64 * 64;
  job->buffer = malloc((size_t)(job->room * p->depth));
  job->requests = malloc((size_t)p->depth * sizeof *job->requests);
  job->begins = malloc((size_t)p->opens * sizeof *job->begins);
  job->ends = malloc((size_t)p->opens * sizeof *job->ends);
  if (!job->buffer || !job->requests || !job->begins || !job->ends)
    words_check(MPI_ERR_NO_MEM, "malloc");
  memset(job->buffer, 7, (size_t)(job->room * p->depth));
}

// Most memory that a rank has had, in KiB.
static long peak_memory(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  long own = usage.ru_maxrss, most = 0;
  MPI_Allreduce(&own, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

static void run(job_t* job, const int64_t rounds[2], double limit) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int world, printed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  if (world == 0)
    printf("{\"program\": \"io-pattern\", \"mpi\": \"%s\", \"results\": [", library_name(library));
  for (int reading = 0; reading < 2; ++reading) {
    double spent = 0;  // the same on all ranks
    for (int64_t round = 0; round < rounds[reading] && spent < limit; ++round) {
      double seconds[2];
      section(job, !reading, seconds);
      spent += seconds[0];
      if (world == 0)
        printf("%s{\"op\": \"%s\", \"seconds\": %.7f, \"calls_s\": %.7f}", printed++ ? ", " : "",
               reading ? "read" : "write", seconds[0], seconds[1]);
    }
  }
  const long memory = peak_memory();
  delete_all(job);
  if (world == 0) {
    printf("], \"peak_kib\": %ld}\n", memory);
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  job_t job = {.comm = MPI_COMM_WORLD};
  int64_t rounds[2];
  MPI_Init(&argc, &argv);
  if (argc < 4) words_refuse("usage: io-pattern FILE ROUNDS[,ROUNDS] SECONDS WORD...");
  job.path = argv[1];
  const char* at = argv[2];
  rounds[0] = words_next_number(&at);
  rounds[1] = *at ? words_next_number(&at) : rounds[0];
  job.pattern = read_pattern(argc, argv);
  if (job.pattern.self) job.comm = MPI_COMM_SELF;
  MPI_Comm_rank(job.comm, &job.rank);
  MPI_Comm_size(job.comm, &job.ranks);
  job.info = info_of(job.pattern.hints);
  make_room(&job);
  run(&job, rounds, atof(argv[3]));
  free(job.buffer);
  free(job.requests);
  free(job.begins);
  free(job.ends);
  if (job.info != MPI_INFO_NULL) MPI_Info_free(&job.info);
  MPI_Finalize();
  return 0;
}
