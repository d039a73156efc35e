#include <stdlib.h>
#include <string.h>

#include "random_calls.h"

enum Mode { kStandard, kSynchronous, kBuffered, kReady, kModes };

static int small_enough(const struct Data* data) {
  int size;
  MPI_Type_size(data->type, &size);
  return (long)size * data->count <= 20000;
}

static void send_now(enum Mode mode, const void* out, const struct Data* d, int to, int tag,
                     MPI_Comm comm) {
  switch (mode) {
    case kSynchronous:
      MPI_Ssend(out, d->count, d->type, to, tag, comm);
      break;
    case kBuffered:
      MPI_Bsend(out, d->count, d->type, to, tag, comm);
      break;
    case kReady:
      MPI_Rsend(out, d->count, d->type, to, tag, comm);
      break;
    default:
      MPI_Send(out, d->count, d->type, to, tag, comm);
  }
}

static void send_begun(enum Mode mode, const void* out, const struct Data* d, int to, int tag,
                       MPI_Comm comm, MPI_Request* request) {
  switch (mode) {
    case kSynchronous:
      MPI_Issend(out, d->count, d->type, to, tag, comm, request);
      break;
    case kBuffered:
      MPI_Ibsend(out, d->count, d->type, to, tag, comm, request);
      break;
    case kReady:
      MPI_Irsend(out, d->count, d->type, to, tag, comm, request);
      break;
    default:
      MPI_Isend(out, d->count, d->type, to, tag, comm, request);
  }
}

/* One of the many ways to see requests complete. */
static void complete(int n, MPI_Request* requests) {
  MPI_Status statuses[8];
  int done = 0, count, which[8], index, flag;
  switch (draw(9)) {
    case 0:
      for (int i = 0; i < n; ++i) MPI_Wait(&requests[i], &statuses[i]);
      break;
    case 1:
      MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
      break;
    case 2:
      MPI_Waitall(n, requests, statuses);
      break;
    case 3:
      for (int i = 0; i < n; ++i) MPI_Waitany(n, requests, &index, statuses);
      break;
    case 4:
      while (done < n) {
        MPI_Waitsome(n, requests, &count, which, statuses);
        if (count == MPI_UNDEFINED) break;
        done += count;
      }
      break;
    case 5:
      for (int i = 0; i < n; ++i)
        for (flag = 0; !flag;) MPI_Test(&requests[i], &flag, statuses);
      break;
    case 6:
      for (flag = 0; !flag;) MPI_Testall(n, requests, &flag, statuses);
      break;
    case 7:
      while (done < n) {
        MPI_Testany(n, requests, &index, &flag, statuses);
        if (flag && index == MPI_UNDEFINED) break;
        done += flag;
      }
      break;
    default:
      while (done < n) {
        MPI_Testsome(n, requests, &count, which, MPI_STATUSES_IGNORE);
        if (count == MPI_UNDEFINED) break;
        done += count;
      }
  }
}

static void exchange(const struct Comm* c, int to, int from, const struct Data* d, char* out,
                     char* in) {
  MPI_Status status;
  const int way = draw(3), tag = draw(100), other = draw(4) ? tag : MPI_ANY_TAG;
  if (way == 0) {
    MPI_Sendrecv(out, d->count, d->type, to, tag, in, d->count, d->type, from, other, c->comm,
                 &status);
  } else if (way == 1) {
    memcpy(in, out, d->bytes);
    MPI_Sendrecv_replace(in, d->count, d->type, to, tag, from, other, c->comm, MPI_STATUS_IGNORE);
  } else {
#if HAS_MPI4_CALLS
    /* Not with a derived type: MPICH 4.0 frees it twice. */
    MPI_Request request;
    const int bytes = (int)d->bytes;
    MPI_Isendrecv(out, bytes, MPI_BYTE, to, tag, in, bytes, MPI_BYTE, from, tag, c->comm, &request);
    complete(1, &request);
#else
    MPI_Sendrecv(out, d->count, d->type, to, tag, in, d->count, d->type, from, tag, c->comm,
                 MPI_STATUS_IGNORE);
#endif
  }
}

void step_messages(const struct Comm* c) {
  struct Data d = draw_data();
  char* const out = room(d.bytes);
  char* const in = room(d.bytes);
  fill(out, d.bytes, (unsigned)c->rank + 3);
  enum Mode mode = (enum Mode)draw(kModes);
  if (mode == kBuffered && !small_enough(&d)) mode = kStandard;
  const int shift = draw(7), tag = draw(1000), way = draw(4);
  int to, from;
  neighbours(c, shift, &to, &from);
  MPI_Request requests[2];
  if (way == 0) {
    exchange(c, to, from, &d, out, in);
  } else if (way == 1) {
    MPI_Irecv(in, d.count, d.type, from, tag, c->comm, &requests[0]);
    if (mode == kReady) MPI_Barrier(c->comm);
    send_begun(mode, out, &d, to, tag, c->comm, &requests[1]);
    complete(2, requests);
  } else if (way == 2) {
    MPI_Irecv(in, d.count, d.type, from, tag, c->comm, &requests[0]);
    if (mode == kReady) MPI_Barrier(c->comm);
    send_now(mode, out, &d, to, tag, c->comm);
    if (SOMETIMES(3)) MPI_Type_free(&d.type);
    complete(1, requests);
  } else {
    if (mode == kReady) mode = kStandard;
    send_begun(mode, out, &d, to, tag, c->comm, &requests[0]);
    MPI_Recv(in, d.count, d.type, from, SOMETIMES(4) ? MPI_ANY_TAG : tag, c->comm,
             MPI_STATUS_IGNORE);
    complete(1, requests);
  }
  take(in, d.bytes);
  if (d.type != MPI_DATATYPE_NULL) MPI_Type_free(&d.type);
  free(out);
  free(in);
}

/* Takes one message of at most `most` bytes from whoever sent it. */
static void take_from_any(const struct Comm* c, int tag, char* in, int most) {
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
  int flag = 0, bytes = 0;
  switch (draw(7)) {
    case 0:
      MPI_Recv(in, most, MPI_BYTE, MPI_ANY_SOURCE, tag, c->comm, &status);
      break;
    case 1:
      MPI_Recv(in, most, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &status);
      break;
    case 2:
      MPI_Probe(MPI_ANY_SOURCE, tag, c->comm, &status);
      MPI_Recv(in, most, MPI_BYTE, status.MPI_SOURCE, tag, c->comm, &status);
      break;
    case 3:
      while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, tag, c->comm, &flag, &status);
      MPI_Recv(in, most, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, c->comm, &status);
      break;
    case 4:
      MPI_Mprobe(MPI_ANY_SOURCE, tag, c->comm, &message, &status);
      MPI_Mrecv(in, most, MPI_BYTE, &message, &status);
      break;
    case 5:
      while (!flag) MPI_Improbe(MPI_ANY_SOURCE, tag, c->comm, &flag, &message, &status);
      MPI_Imrecv(in, most, MPI_BYTE, &message, &request);
      MPI_Wait(&request, &status);
      break;
    default:
      MPI_Irecv(in, most, MPI_BYTE, MPI_ANY_SOURCE, tag, c->comm, &request);
      MPI_Wait(&request, &status);
  }
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  take(in, (size_t)bytes);
  take_number(status.MPI_SOURCE);
}

void step_any_source(const struct Comm* c) {
  const int most = draw_bytes(), tag = draw(1000), each = 1 + draw(3);
  const int root = draw(c->between ? 1 : c->size);
  const int mode = most <= 20000 ? draw(3) : 0;
  /* Of two groups the first ranks of both receive from the others' ranks. */
  const int receives = c->rank == root, senders = c->between ? c->peers : c->size - 1;
  char* const data = room((size_t)most + 64);
  MPI_Request requests[3];
  const int sends = c->between || c->rank != root;
  char* const out = room((size_t)most + 64);
  for (int i = 0; sends && i < each; ++i) {
    const int bytes = most - (c->rank * 7 + i) % (most / 2 + 1);
    fill(out, (size_t)bytes, (unsigned)c->rank);
    struct Data d = {MPI_BYTE, bytes, 0};
    send_begun((enum Mode)mode, out, &d, root, tag, c->comm, &requests[i]);
    if (!c->between) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
  for (int i = 0; receives && i < senders * each; ++i) take_from_any(c, tag, data, most + 64);
  if (c->between && sends) MPI_Waitall(each, requests, MPI_STATUSES_IGNORE);
  /* Who takes from any tag must not find what comes next. */
  MPI_Barrier(c->comm);
  free(data);
  free(out);
}

void step_persistent(const struct Comm* c) {
  struct Data d = draw_data();
  char* const out = room(d.bytes);
  char* const in = room(d.bytes);
  const int tag = draw(100), rounds = 1 + draw(4), all = draw(2);
  enum Mode mode = (enum Mode)draw(kModes);
  if (mode == kBuffered && !small_enough(&d)) mode = kStandard;
  int to, from;
  neighbours(c, draw(5), &to, &from);
  MPI_Request requests[2];
  MPI_Recv_init(in, d.count, d.type, from, tag, c->comm, &requests[0]);
  switch (mode) {
    case kSynchronous:
      MPI_Ssend_init(out, d.count, d.type, to, tag, c->comm, &requests[1]);
      break;
    case kBuffered:
      MPI_Bsend_init(out, d.count, d.type, to, tag, c->comm, &requests[1]);
      break;
    case kReady:
      MPI_Rsend_init(out, d.count, d.type, to, tag, c->comm, &requests[1]);
      break;
    default:
      MPI_Send_init(out, d.count, d.type, to, tag, c->comm, &requests[1]);
  }
  for (int i = 0; i < rounds; ++i) {
    /* Open MPI 4.1 may send a buffered one's first bytes again. */
    if (mode != kBuffered || i == 0) fill(out, d.bytes, (unsigned)(c->rank + i));
    if (mode == kReady) {
      MPI_Start(&requests[0]);
      MPI_Barrier(c->comm);
      MPI_Start(&requests[1]);
    } else if (all) {
      MPI_Startall(2, requests);
    } else {
      MPI_Start(&requests[1]);
      MPI_Start(&requests[0]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    take(in, d.bytes);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Type_free(&d.type);
  free(out);
  free(in);
}

void step_partitioned(const struct Comm* c) {
#if HAS_MPI4_CALLS
  if (c->size < 2) return;
  const int parts = 1 + draw(4), count = 1 + draw(500), one_by_one = draw(2), look = draw(2);
  const size_t bytes = (size_t)parts * (size_t)count;
  char* const out = room(bytes);
  char* const in = room(bytes);
  int to, from, flag = 0;
  neighbours(c, 1, &to, &from);
  MPI_Request requests[2];
  MPI_Precv_init(in, parts, count, MPI_BYTE, from, 3, c->comm, MPI_INFO_NULL, &requests[0]);
  MPI_Psend_init(out, parts, count, MPI_BYTE, to, 3, c->comm, MPI_INFO_NULL, &requests[1]);
  for (int round = 0; round < 2; ++round) {
    MPI_Startall(2, requests);
    fill(out, bytes, (unsigned)(c->rank + round));
    for (int i = 0; one_by_one && i < parts; ++i) MPI_Pready(i, requests[1]);
    if (!one_by_one) MPI_Pready_range(0, parts - 1, requests[1]);
    if (look) MPI_Parrived(requests[0], 0, &flag);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    take(in, bytes);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  free(out);
  free(in);
#else
  (void)c;
#endif
}

/* Requests that are freed, cancelled, looked at, or nothing. */
void step_odd_requests(const struct Comm* c) {
  char out[64], in[64] = {0};
  MPI_Request request, nothing[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status;
  int to, from, flag = 0, index;
  neighbours(c, 1 + draw(3), &to, &from);
  fill(out, 64, (unsigned)c->rank);
  switch (draw(5)) {
    case 0:
      MPI_Irecv(in, 64, MPI_BYTE, from, 999, c->comm, &request);
      MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      MPI_Test_cancelled(&status, &flag);
      take_number(flag);
      break;
    case 1:
      MPI_Irecv(in, 64, MPI_BYTE, from, 12, c->comm, &request);
      MPI_Send(out, 64, MPI_BYTE, to, 12, c->comm);
      while (!flag) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      take(in, 64);
      break;
    case 2:
      MPI_Isend(out, 8, MPI_BYTE, to, 13, c->comm, &request);
      MPI_Request_free(&request);
      MPI_Recv(in, 64, MPI_BYTE, from, 13, c->comm, MPI_STATUS_IGNORE);
      take(in, 64);
      MPI_Barrier(c->comm);
      break;
    case 3:
      MPI_Waitall(2, nothing, MPI_STATUSES_IGNORE);
      MPI_Waitany(2, nothing, &index, MPI_STATUS_IGNORE);
      MPI_Test(&nothing[0], &flag, MPI_STATUS_IGNORE);
      MPI_Testall(0, nothing, &flag, MPI_STATUSES_IGNORE);
      MPI_Send(out, 8, MPI_BYTE, MPI_PROC_NULL, 1, c->comm);
      MPI_Recv(in, 8, MPI_BYTE, MPI_PROC_NULL, 1, c->comm, &status);
      MPI_Irecv(in, 8, MPI_BYTE, MPI_PROC_NULL, 1, c->comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    default: {
      /* A rank may send to itself, and have two messages of one tag under way. */
      MPI_Request requests[4];
      for (int i = 0; i < 2; ++i) {
        MPI_Irecv(in + 16 * i, 16, MPI_BYTE, c->rank, 4, c->comm, &requests[i]);
        MPI_Isend(out + 16 * i, 8 + i, MPI_BYTE, c->rank, 4, c->comm, &requests[2 + i]);
      }
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
      take(in, 64);
    }
  }
}
