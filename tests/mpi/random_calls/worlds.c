#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "random_calls.h"

enum { kThreads = 3 };
struct Thread {
  MPI_Comm comm;
  int number, rounds, bytes;
};

static void* talk(void* argument) {
  const struct Thread* const t = argument;
  int rank, size;
  MPI_Comm_rank(t->comm, &rank);
  MPI_Comm_size(t->comm, &size);
  char* const out = room((size_t)t->bytes);
  char* const in = room((size_t)t->bytes);
  for (int i = 0; i < t->rounds; ++i) {
    MPI_Request request;
    fill(out, (size_t)t->bytes, (unsigned)(rank + i));
    MPI_Irecv(in, t->bytes, MPI_BYTE, (rank + 1) % size, t->number, t->comm, &request);
    MPI_Send(out, t->bytes, MPI_BYTE, (rank + size - 1) % size, t->number, t->comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    take(in, (size_t)t->bytes);
    if (t->number == 1) MPI_Barrier(t->comm);
  }
  free(out);
  free(in);
  return NULL;
}

void step_threads(const struct Comm* c) {
  if (!threads_allowed) return;
  pthread_t threads[kThreads];
  struct Thread parts[kThreads];
  const int rounds = 1 + draw(30), bytes = 1 + draw(5000);
  for (int i = 0; i < kThreads; ++i) {
    parts[i] = (struct Thread){.number = i, .rounds = rounds, .bytes = bytes};
    MPI_Comm_dup(c->comm, &parts[i].comm);
  }
  for (int i = 0; i < kThreads; ++i)
    if (pthread_create(&threads[i], NULL, talk, &parts[i])) broken("no thread");
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&parts[i].comm);
}

/* A session beside the world. */
void step_session(const struct Comm* c) {
#if HAS_MPI4_CALLS
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int value = c->rank, sum = 0;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session)) broken("no session");
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "random_calls", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Bcast(&value, 1, MPI_INT, 0, comm);
  take_number(sum);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
#else
  (void)c;
#endif
}

/* What both worlds do. */
static int talk_between(MPI_Comm between, int parent) {
  int rank, value = parent ? 41 : 1, got = 0;
  MPI_Comm merged;
  MPI_Comm_rank(between, &rank);
  if (rank == 0) {
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, between, MPI_STATUS_IGNORE);
  }
  MPI_Intercomm_merge(between, !parent, &merged);
  MPI_Allreduce(MPI_IN_PLACE, &got, 1, MPI_INT, MPI_SUM, merged);
  MPI_Barrier(merged);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&between);
  return got;
}

void step_spawn(const struct Comm* c) {
  static int spawned;
  char* words[] = {"child", NULL};
  MPI_Comm between;
  const int ranks = 1 + draw(2);
  extern char* program_invocation_name;
  if (spawned++) return; /* once is enough: it takes seconds */
  /* Debian's MPICH 4.0.2 cannot. */
  MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN);
  const int code = MPI_Comm_spawn(program_invocation_name, words, ranks, MPI_INFO_NULL, 0, c->comm,
                                  &between, MPI_ERRCODES_IGNORE);
  MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_ARE_FATAL);
  if (code == MPI_SUCCESS) take_number(talk_between(between, 1));
}

int child(void) {
  MPI_Comm parent;
  MPI_Init(NULL, NULL);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) return 2;
  talk_between(parent, 0);
  MPI_Finalize();
  return 0;
}

/* Calls that MPI refuses. */
void step_refused(const struct Comm* c) {
  MPI_Errhandler handler;
  char data[8] = {0};
  int class = 0, code = MPI_SUCCESS;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_get_errhandler(c->comm, &handler);
  MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN);
  switch (draw(5)) {
    case 0:
      code = MPI_Send(data, -1, MPI_BYTE, 0, 0, c->comm);
      break;
    case 1:
      code = MPI_Send(data, 1, MPI_BYTE, c->size + 5, 0, c->comm);
      break;
    case 2:
      code = MPI_Irecv(data, 1, MPI_DATATYPE_NULL, 0, 0, c->comm, &request);
      break;
    case 3:
      code = MPI_Bcast(data, 1, MPI_BYTE, c->size + 2, c->comm);
      break;
    default: /* more than there is room for */
      MPI_Irecv(data, 1, MPI_BYTE, c->rank, 0, c->comm, &request);
      MPI_Send(data, 8, MPI_BYTE, c->rank, 0, c->comm);
      code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Error_class(code, &class);
  take_number(class);
  MPI_Comm_set_errhandler(c->comm, handler);
  MPI_Errhandler_free(&handler);
}
