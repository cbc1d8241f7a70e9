/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A delete function that uses the datatype being freed: in a message, as a part of other datatypes,
 * and in requests and datatypes that outlive the call. It is called once, the datatype is freed
 * once, and what outlives the call works.
 */
#include <mpi.h>
#include <stdio.h>

/* OUTLIVED: as MESSAGE, but a datatype derived from it earlier is freed after it. */
enum { MESSAGE, PART, DUP, REQUEST_LEFT, PART_LEFT, OUTLIVED, USES };
static int use, calls, failed;
static MPI_Request request;
static MPI_Datatype whole;
static int received[4];

static void need(int condition, const char* what) {
  if (!condition) printf("FAILED: use %d: %s\n", use, what), failed = 1;
}

static int delete_fn(MPI_Datatype type, int keyval, void* value, void* extra_state) {
  int sent[4] = {1, 2, 3, 4};
  MPI_Datatype other;
  (void)keyval, (void)value, (void)extra_state;
  if (++calls > 1) return MPI_SUCCESS;
  switch (use) {
    case MESSAGE:
    case OUTLIVED:
      MPI_Sendrecv(sent, 1, type, 0, 0, received, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
      break;
    case PART:
      MPI_Type_contiguous(2, type, &other);
      MPI_Type_free(&other);
      break;
    case DUP:
      MPI_Type_dup(type, &other);
      MPI_Type_free(&other);
      break;
    case REQUEST_LEFT:
      MPI_Irecv(received, 1, type, 0, 1, MPI_COMM_SELF, &request);
      break;
    case PART_LEFT:
      MPI_Type_contiguous(2, type, &whole);
      break;
  }
  return MPI_SUCCESS;
}

/* All live datatypes are distinct, which they wouldn't be if one had been freed twice. */
static void check_pool(void) {
  enum { MANY = 40 };
  MPI_Datatype types[MANY];
  for (int i = 0; i < MANY; i++) MPI_Type_contiguous(i + 1, MPI_INT, &types[i]);
  for (int i = 0; i < MANY; i++) {
    int size;
    MPI_Type_size(types[i], &size);
    need(size == (i + 1) * (int)sizeof(int), "the size of a datatype made afterwards");
    for (int j = 0; j < i; j++) need(types[i] != types[j], "two live datatypes are one");
  }
  for (int i = 0; i < MANY; i++) MPI_Type_free(&types[i]);
}

int main(int argc, char** argv) {
  int keyval;
  MPI_Init(&argc, &argv);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_fn, &keyval, NULL);
  for (use = 0; use < USES; use++) {
    const int sent[2] = {5, 6};
    MPI_Datatype type;
    int size = 0;
    calls = received[0] = received[2] = 0;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_set_attr(type, keyval, NULL);
    if (use == OUTLIVED) MPI_Type_contiguous(2, type, &whole);
    MPI_Type_free(&type);
    if (use == OUTLIVED) MPI_Type_free(&whole);
    need(calls == 1, "calls of delete_fn");
    if (use == MESSAGE || use == OUTLIVED)
      need(received[0] == 1 && received[2] == 3, "the message");
    check_pool();
    if (use == REQUEST_LEFT) {
      MPI_Send(sent, 2, MPI_INT, 0, 1, MPI_COMM_SELF);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      need(received[0] == 5 && received[2] == 6, "the pending message");
    }
    if (use == PART_LEFT) {
      MPI_Type_size(whole, &size);
      need(size == 4 * (int)sizeof(int), "the size of the derived datatype");
      MPI_Type_free(&whole);
    }
    need(calls == 1, "calls of delete_fn in the end");
    check_pool();
  }
  MPI_Type_free_keyval(&keyval);
  MPI_Finalize();
  return failed;
}
