/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What MPI_Finalize deletes, in which order, and whether MPI says that it is finalized by then. To
 * be compared with what happens natively; lines are numbered, for they are sorted.
 */
#include "check.h"

static int lines;
static int me;

static int del(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  int finalized = -1;
  int initialized = -1;
  const char* name = comm == MPI_COMM_SELF ? "self" : comm == MPI_COMM_WORLD ? "world" : "other";
  (void)keyval, (void)extra_state;
  MPI_Finalized(&finalized);
  MPI_Initialized(&initialized);
  printf("rank %d: %d: %s %ld, initialized %d, finalized %d\n", me, lines++, name, (long)value,
         initialized, finalized);
  fflush(stdout);
  if (comm == MPI_COMM_SELF && (long)value == 2) { /* MPI still works: others' attributes do, too */
    void* other = NULL;
    int flag = 0;
    const int earlier = *(int*)extra_state;
    MPI_Comm_get_attr(MPI_COMM_SELF, earlier, &other, &flag);
    printf("rank %d: %d: self has %ld (%d)\n", me, lines++, (long)other, flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, earlier, &other, &flag);
    printf("rank %d: %d: world has %ld (%d)\n", me, lines++, (long)other, flag);
    MPI_Barrier(MPI_COMM_SELF);
    fflush(stdout);
  }
  return MPI_SUCCESS;
}

static int del_type(MPI_Datatype type, int keyval, void* value, void* extra_state) {
  (void)type, (void)keyval, (void)extra_state;
  printf("rank %d: %d: type %ld\n", me, lines++, (long)value);
  fflush(stdout);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  static int k[3];
  MPI_Comm never_freed;
  MPI_Datatype type;
  int type_key;
  int i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (i = 0; i < 3; ++i) MPI_Comm_create_keyval(MPI_COMM_DUP_FN, del, &k[i], &k[0]);
  MPI_Comm_set_attr(MPI_COMM_WORLD, k[0], (void*)11);
  MPI_Comm_set_attr(MPI_COMM_WORLD, k[2], (void*)12);
  MPI_Comm_set_attr(MPI_COMM_WORLD, k[1], (void*)13);
  MPI_Comm_set_attr(MPI_COMM_SELF, k[0], (void*)1);
  MPI_Comm_set_attr(MPI_COMM_SELF, k[2], (void*)2);
  MPI_Comm_set_attr(MPI_COMM_SELF, k[1], (void*)3);
  MPI_Comm_dup(MPI_COMM_WORLD, &never_freed);
  MPI_Comm_set_attr(never_freed, k[0], (void*)99);
  MPI_Type_contiguous(2, MPI_INT, &type); /* never freed either */
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, del_type, &type_key, NULL);
  MPI_Type_set_attr(type, type_key, (void*)21);
  MPI_Type_set_attr(MPI_INT, type_key, (void*)22);
  for (i = 0; i < 3; ++i) {
    int saved = k[i];
    if (i > 0) MPI_Comm_free_keyval(&saved); /* freed, and kept alive by their attributes */
  }
  printf("rank %d: %d: finalizing\n", me, lines++);
  fflush(stdout);
  MPI_Finalize();
  printf("rank %d: %d: finalized\n", me, lines++);
  return 0;
}
