/* Small programs that communicate as larger ones do, on ranks that SimGrid simulates, and a
 * measurement of the simulated machine: what `haichi figures predict-smpi` predicts, and by what.
 * Plain MPI; computing is so many flops of the simulated processor, not the same on all ranks.
 *
 *   smpirun -np N ... smpi-programs NAME STEPS
 *   smpirun -np N ... smpi-programs messages|calls SIZE...
 *   smpirun -np N ... smpi-programs rows-and-columns ROWS SIZE...
 *
 * NAME is a program of the table at the end; every rank prints the seconds from its first call to
 * its last one. Rank 0 prints of `messages` and `calls` what ping-pongs and collective calls of the
 * SIZEs take, one line each, and of `rows-and-columns` what 24 calls of each take. Buffers are
 * shared by all ranks, so that messages move no byte. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 64 << 20, kBig = 6150 << 10 };

static char* memory; /* kMost bytes, whatever is in them */
static int me, ranks, steps;

/* The same on every run, another on every rank: from 0.9 to 1.1 times as much. */
static void compute(double flops, int step) {
  const unsigned mixed = ((unsigned)me * 2654435761u + (unsigned)step * 40503u) >> 7 & 1023u;
  smpi_execute_flops(flops * (0.9 + 0.2 * mixed / 1023));
}

/* --- paper 001, section 3.7: 24 exchanges in each of many steps ------------------------------- */

enum { kExchanges = 24 };

static void trans7_send(void) {
  for (int step = 0; step < steps; ++step)
    for (int k = 1; k <= kExchanges; ++k) {
      MPI_Request request;
      compute(2e6, step);
      MPI_Irecv(memory, kBig, MPI_BYTE, (me + ranks - k) % ranks, 0, MPI_COMM_WORLD, &request);
      MPI_Send(memory, kBig, MPI_BYTE, (me + k) % ranks, 0, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void trans7_put(void) {
  MPI_Win window;
  MPI_Win_create(memory, kMost, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  for (int step = 0; step < steps; ++step)
    for (int k = 1; k <= kExchanges; ++k) {
      compute(2e6, step);
      MPI_Put(memory, kBig, MPI_BYTE, (me + k) % ranks, 0, kBig, MPI_BYTE, window);
      MPI_Win_fence(0, window);
    }
  MPI_Win_free(&window);
}

/* --- as the NAS Parallel Benchmarks do -------------------------------------------------------- */

static void is(void) {
  int* counts = malloc(sizeof(int) * 2 * (size_t)ranks);
  int* places = calloc((size_t)ranks, sizeof(int));
  int* back = counts + ranks;
  for (int step = 0; step < steps; ++step) {
    compute(3e6, step);
    MPI_Allreduce(MPI_IN_PLACE, memory, 1029, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Alltoall(memory, 1, MPI_INT, memory + 4096, 1, MPI_INT, MPI_COMM_WORLD);
    /* Keys are not spread evenly, but nearly. */
    for (int r = 0; r < ranks; ++r) {
      counts[r] = 16000 + 400 * ((me + r + step) % 5);
      back[r] = counts[r];
    }
    MPI_Alltoallv(memory, counts, places, MPI_BYTE, memory, back, places, MPI_BYTE, MPI_COMM_WORLD);
    compute(1e6, step + 100);
  }
  MPI_Reduce(memory, memory + 64, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  free(counts);
  free(places);
}

static void ft(void) {
  MPI_Bcast(memory, 3, MPI_INT, 0, MPI_COMM_WORLD);
  for (int step = 0; step < steps; ++step) {
    compute(2e7, step);
    MPI_Alltoall(memory, 131072, MPI_BYTE, memory, 131072, MPI_BYTE, MPI_COMM_WORLD);
    compute(1e7, step + 50);
    MPI_Reduce(memory, memory + 64, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  }
}

/* Sums over a row of ranks by hand, and an exchange with the transposed rank. */
static void swap(int peer, int bytes) {
  MPI_Request request;
  MPI_Irecv(memory, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
  MPI_Send(memory, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void cg(void) {
  int columns = 1;
  while (columns * columns < ranks) columns *= 2;
  const int rows = ranks / columns, row = me / columns, column = me % columns;
  const int transposed = rows == columns ? column * columns + row : (me ^ 1);
  for (int step = 0; step < steps; ++step) {
    compute(5e5, step);
    for (int bit = 1; bit < columns; bit *= 2) swap(row * columns + (column ^ bit), 28000);
    if (transposed != me) swap(transposed, 28000);
    for (int dot = 0; dot < 2; ++dot) {
      compute(2e4, step + dot);
      for (int bit = 1; bit < columns; bit *= 2) swap(row * columns + (column ^ bit), 8);
    }
  }
}

/* The ranks as a box, and the neighbours in it, going round. */
static int box[3];

static void make_box(void) {
  memset(box, 0, sizeof box);
  MPI_Dims_create(ranks, 3, box);
}

static int neighbour(int x, int y, int z) {
  const int at[3] = {me / (box[1] * box[2]), me / box[2] % box[1], me % box[2]};
  const int a = (at[0] + x + box[0]) % box[0], b = (at[1] + y + box[1]) % box[1],
            c = (at[2] + z + box[2]) % box[2];
  return (a * box[1] + b) * box[2] + c;
}

static void mg(void) {
  make_box();
  for (int step = 0; step < steps; ++step)
    for (int down = 0; down < 12; ++down) {
      const int level = down < 6 ? down : 11 - down; /* a V of six levels */
      const int side = 64 >> level;
      compute(2.0 * side * side * side * 8, step + down);
      for (int axis = 0; axis < 3; ++axis) {
        if (box[axis] == 1) continue;
        for (int way = -1; way <= 1; way += 2) {
          MPI_Request request;
          const int bytes = (side + 2) * (side + 2) * 8;
          const int to = neighbour(axis == 0 ? way : 0, axis == 1 ? way : 0, axis == 2 ? way : 0);
          const int from =
              neighbour(axis == 0 ? -way : 0, axis == 1 ? -way : 0, axis == 2 ? -way : 0);
          MPI_Irecv(memory, bytes, MPI_BYTE, from, axis, MPI_COMM_WORLD, &request);
          MPI_Send(memory, bytes, MPI_BYTE, to, axis, MPI_COMM_WORLD);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
      }
    }
  MPI_Allreduce(MPI_IN_PLACE, memory, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* --- as HPCG does: 26 neighbours, and a dot product behind every sweep ------------------------ */

static void hpcg(void) {
  make_box();
  for (int step = 0; step < steps; ++step)
    for (int level = 0; level < 3; ++level) {
      MPI_Request requests[26];
      int peers[26], sizes[26], count = 0;
      const int side = 32 >> level;
      for (int x = -1; x <= 1; ++x)
        for (int y = -1; y <= 1; ++y)
          for (int z = -1; z <= 1; ++z) {
            const int peer = neighbour(x, y, z);
            if (peer == me) continue;
            peers[count] = peer;
            sizes[count++] = 8 * (x ? 1 : side) * (y ? 1 : side) * (z ? 1 : side);
          }
      /* The neighbour opposite sends as many bytes, and in the order of its own loop. */
      for (int i = 0; i < count; ++i)
        MPI_Irecv(memory, 8 * 32 * 32, MPI_BYTE, peers[i], 9, MPI_COMM_WORLD, &requests[i]);
      for (int i = 0; i < count; ++i)
        MPI_Send(memory, sizes[i], MPI_BYTE, peers[i], 9, MPI_COMM_WORLD);
      for (int i = 0; i < count; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      compute(20.0 * side * side * side, step + level);
      if (level == 0) MPI_Allreduce(MPI_IN_PLACE, memory, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* --- the simulated machine -------------------------------------------------------------------- */

/* All ranks begin at the same time: clocks are one in a simulation. */
static double begin_together(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  double last = MPI_Wtime();
  MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double begin = last + 0.1;
  smpi_execute(begin - MPI_Wtime());
  return begin;
}

static void tell(const char* name, int bytes, double begin) {
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (me == 0) printf("%s %d %.12g\n", name, bytes, seconds);
}

static void ping_pong(int bytes) {
  const double begin = begin_together();
  if (me == 0) {
    MPI_Send(memory, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(memory, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("ping-pong %d %.12g\n", bytes, (MPI_Wtime() - begin) / 2);
  } else if (me == 1) {
    MPI_Recv(memory, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(memory, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

static void collective_calls(int bytes) {
  double begin;
  if (bytes == 0) {
    begin = begin_together();
    MPI_Barrier(MPI_COMM_WORLD);
    tell("barrier", 0, begin);
    return;
  }
  begin = begin_together();
  MPI_Bcast(memory, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  tell("bcast", bytes, begin);
  begin = begin_together();
  MPI_Reduce(memory, memory + kMost / 2, bytes, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
  tell("reduce", bytes, begin);
  begin = begin_together();
  MPI_Allreduce(MPI_IN_PLACE, memory, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  tell("allreduce", bytes, begin);
  if ((double)bytes * ranks > kMost / 2) return;
  begin = begin_together();
  MPI_Alltoall(memory, bytes, MPI_BYTE, memory + kMost / 2, bytes, MPI_BYTE, MPI_COMM_WORLD);
  tell("alltoall", bytes, begin);
  int* counts = malloc(sizeof(int) * (size_t)ranks);
  int* places = calloc((size_t)ranks, sizeof(int));
  for (int r = 0; r < ranks; ++r) counts[r] = bytes;
  begin = begin_together();
  MPI_Alltoallv(memory, counts, places, MPI_BYTE, memory, counts, places, MPI_BYTE, MPI_COMM_WORLD);
  tell("alltoallv", bytes, begin);
  free(counts);
  free(places);
}

/* --- a grid with a row on each node: calls of its rows, then of its columns, as a transform makes
 */

static void rows_and_columns(int rows, int bytes) {
  const int columns = ranks / rows;
  MPI_Comm row, column;
  MPI_Comm_split(MPI_COMM_WORLD, me / columns, me, &row);
  MPI_Comm_split(MPI_COMM_WORLD, me % columns, me, &column);
  const double begin = begin_together();
  for (int step = 0; step < kExchanges; ++step) {
    MPI_Alltoall(memory, bytes, MPI_BYTE, memory + kMost / 2, bytes, MPI_BYTE, row);
    MPI_Alltoall(memory, bytes, MPI_BYTE, memory + kMost / 2, bytes, MPI_BYTE, column);
  }
  tell("rows-and-columns", bytes, begin);
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
}

/* --- */

static const struct {
  const char* name;
  void (*run)(void);
} programs[] = {{"trans7-send", trans7_send},
                {"trans7-put", trans7_put},
                {"is", is},
                {"ft", ft},
                {"cg", cg},
                {"mg", mg},
                {"hpcg", hpcg}};

static int run(const char* name) {
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; ++i)
    if (strcmp(name, programs[i].name) == 0) {
      const double begin = MPI_Wtime();
      programs[i].run();
      printf("%.12g\n", MPI_Wtime() - begin);
      return 0;
    }
  fprintf(stderr, "smpi-programs: no program %s\n", name);
  return 2;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  memory = SMPI_SHARED_MALLOC(kMost);
  const char* const name = argc < 3 ? "" : argv[1];
  int code = 0;
  if (strcmp(name, "messages") == 0) {
    for (int i = 2; i < argc; ++i) ping_pong(atoi(argv[i]));
  } else if (strcmp(name, "calls") == 0) {
    for (int i = 2; i < argc; ++i) collective_calls(atoi(argv[i]));
  } else if (strcmp(name, "rows-and-columns") == 0) {
    for (int i = 3; i < argc; ++i) rows_and_columns(atoi(argv[2]), atoi(argv[i]));
  } else {
    steps = argc < 3 ? 0 : atoi(argv[2]);
    code = run(name);
  }
  SMPI_SHARED_FREE(memory);
  MPI_Finalize();
  return code;
}
