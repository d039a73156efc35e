/* kept_types: what is kept with a datatype is that type's, whatever becomes of its handle.
 *
 *   mpiexec -n N kept_types FOLDER
 * Exit code 1 if a check failed; see check.h. */
#include "check.h"

#include <stdlib.h>

enum { kInts = 64, kRounds = 30 };

/* Every second rank-th int of memory, in an order that depends on `shift`. */
static MPI_Datatype scattered(int shift) {
  int lengths[kInts / 2], places[kInts / 2];
  for (int i = 0; i < kInts / 2; ++i) {
    lengths[i] = 1;
    places[i] = (i * 2 * 7 + shift) % kInts;
  }
  MPI_Datatype type;
  MPI_Type_indexed(kInts / 2, lengths, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static void fill(int* memory, int round) {
  for (int i = 0; i < kInts; ++i) memory[i] = round * 100000 + rank * 1000 + i;
}

/* The file has this rank's ints as type scattered(shift) takes them out of fill(round). */
static void expect_written(int shift, int round) {
  int found[kInts / 2];
  MPI_Barrier(MPI_COMM_WORLD);
  int* all = malloc(sizeof found * (size_t)ranks);
  look(path, all, kInts / 2 * ranks);
  for (int i = 0; i < kInts / 2; ++i) {
    const int got = all[i * ranks + rank];
    const int wanted = round * 100000 + rank * 1000 + (i * 2 * 7 + shift) % kInts;
    EXPECT(got == wanted, "round %d, int %d is %d, not %d", round, i, got, wanted);
  }
  free(all);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank r of N has every N-th int from r on. */
static MPI_File open_with_view(void) {
  MPI_File file = open_new();
  MPI_Datatype turn;
  MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int) * ranks, &turn);
  MPI_Type_commit(&turn);
  EXPECT_OK(MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, turn, "native",
                              MPI_INFO_NULL));
  MPI_Type_free(&turn);
  return file;
}

static void write_as(MPI_File file, int round, MPI_Datatype type) {
  int memory[kInts];
  fill(memory, round);
  EXPECT_OK(MPI_File_write_at_all(file, 0, memory, 1, type, MPI_STATUS_IGNORE));
}

/* The next type often has the handle of the one that was freed before. */
static void same_handle(void) {
  MPI_File file = open_with_view();
  MPI_Datatype before = MPI_DATATYPE_NULL;
  int again = 0;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Datatype type = scattered(round % 2);
    again += type == before;
    before = type;
    write_as(file, round, type);
    MPI_Type_free(&type);
    expect_written(round % 2, round);
  }
  MPI_File_close(&file);
  if (rank == 0) printf("handles seen again: %d\n", again);
}

/* A duplicate of a type that was used, which outlives it. */
static void duplicate(void) {
  MPI_File file = open_with_view();
  MPI_Datatype type = scattered(0), copy, other;
  write_as(file, 1, type);
  MPI_Type_dup(type, &copy);
  MPI_Type_free(&type);
  other = scattered(1); /* perhaps where the first was */
  write_as(file, 2, other);
  expect_written(1, 2);
  write_as(file, 3, copy);
  expect_written(0, 3);
  MPI_Type_free(&copy);
  write_as(file, 4, other);
  expect_written(1, 4);
  MPI_Type_free(&other);
  MPI_File_close(&file);
}

/* A duplicate as the view's type. */
static void duplicate_in_a_view(void) {
  MPI_File file = open_with_view();
  MPI_Datatype piece, type, copy;
  MPI_Type_vector(kInts / 2, 1, ranks, MPI_INT, &piece);
  MPI_Type_create_resized(piece, 0, (MPI_Aint)sizeof(int) * ranks * kInts / 2, &type);
  MPI_Type_commit(&type);
  for (int round = 0; round < 3; ++round) {
    MPI_Type_dup(type, &copy);
    EXPECT_OK(MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT,
                                round == 1 ? type : copy, "native", MPI_INFO_NULL));
    MPI_Type_free(&copy);
    MPI_Datatype memory = scattered(round % 2);
    write_as(file, round, memory);
    MPI_Type_free(&memory);
    expect_written(round % 2, round);
  }
  MPI_Type_free(&piece);
  MPI_Type_free(&type);
  MPI_File_close(&file);
}

/* Freed, and its handle perhaps taken by another, while the access is outstanding. */
static void freed_while_outstanding(void) {
  MPI_File file = open_with_view();
  for (int round = 0; round < kRounds; ++round) {
    int memory[kInts], size;
    fill(memory, round);
    MPI_Datatype type = scattered(round % 2), other;
    MPI_Request request;
    EXPECT_OK(MPI_File_iwrite_at_all(file, 0, memory, 1, type, &request));
    MPI_Type_free(&type);
    other = scattered((round + 1) % 2);
    MPI_Pack_size(1, other, MPI_COMM_WORLD, &size);
    EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Type_free(&other);
    expect_written(round % 2, round);
  }
  MPI_File_close(&file);
}

/* A part of a larger type that was used by itself, and freed before the larger one is made use of.
 */
static void part_of_another(void) {
  MPI_File file = open_with_view();
  MPI_Datatype type = scattered(1), whole, other;
  write_as(file, 1, type);
  const int one = 1;
  const MPI_Aint zero = 0;
  MPI_Type_create_struct(1, &one, &zero, &type, &whole);
  MPI_Type_commit(&whole);
  MPI_Type_free(&type);
  other = scattered(0);
  write_as(file, 2, other);
  write_as(file, 3, whole);
  expect_written(1, 3);
  MPI_Type_free(&other);
  MPI_Type_free(&whole);
  MPI_File_close(&file);
}

static int copied, deleted;

static int count_copy(MPI_Datatype type, int key, void* extra, void* in, void* out, int* flag) {
  (void)type, (void)key, (void)extra;
  ++copied;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int count_delete(MPI_Datatype type, int key, void* value, void* extra) {
  (void)type, (void)key, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

/* The program's own attributes are called back as without haichi. */
static void attributes_of_the_program(void) {
  MPI_File file = open_with_view();
  int key, value = 7, found;
  void* got;
  copied = deleted = 0;
  MPI_Type_create_keyval(count_copy, count_delete, &key, NULL);
  MPI_Datatype type = scattered(0), copy;
  MPI_Type_set_attr(type, key, &value);
  write_as(file, 1, type);
  write_as(file, 2, type);
  EXPECT(copied == 0 && deleted == 0, "%d copied, %d deleted by an access", copied, deleted);
  MPI_Type_dup(type, &copy);
  EXPECT(copied == 1, "%d copied", copied);
  MPI_Type_get_attr(copy, key, &got, &found);
  EXPECT(found && got == &value, "the duplicate has another value");
  MPI_Type_free(&type);
  MPI_Type_free(&copy);
  EXPECT(deleted == 2, "%d deleted", deleted);
  MPI_Type_free_keyval(&key);
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  const Check checks[] = {
      {"same_handle", same_handle},
      {"duplicate", duplicate},
      {"duplicate_in_a_view", duplicate_in_a_view},
      {"freed_while_outstanding", freed_while_outstanding},
      {"part_of_another", part_of_another},
      {"attributes_of_the_program", attributes_of_the_program},
  };
  MPI_Init(&argc, &argv);
  MPI_Datatype never_freed = scattered(1);
  const int failed = run_checks(argc, argv, checks, (int)(sizeof checks / sizeof *checks));
  (void)never_freed;
  MPI_Finalize();
  return failed;
}
