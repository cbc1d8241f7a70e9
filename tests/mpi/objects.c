/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Many objects at once, freed in another order than made, their handles reused: each keeps to its
 * own attributes. */
#include "check.h"

enum { kObjects = 30000 };
static MPI_Datatype types[kObjects];
static long alive;
static long deleted;

static int del(MPI_Datatype type, int keyval, void* value, void* extra_state) {
  const long i = (long)value % kObjects;
  (void)keyval, (void)extra_state;
  if (types[i] == type) ++deleted;
  --alive;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int k;
  int round;
  int status;
  long i;
  long wrong = 0;
  MPI_Init(&argc, &argv);
  check_begin();
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, del, &k, NULL);
  for (i = 0; i < kObjects; ++i) types[i] = MPI_DATATYPE_NULL;
  for (round = 0; round < 4; ++round) {
    for (i = 0; i < kObjects; ++i) {
      void* value = NULL;
      int flag = 0;
      if (types[i] != MPI_DATATYPE_NULL) continue;
      MPI_Type_dup(MPI_INT, &types[i]);
      MPI_Type_get_attr(types[i], k, &value, &flag);
      if (flag) ++wrong;
      MPI_Type_set_attr(types[i], k, (void*)(round * (long)kObjects + i));
      ++alive;
    }
    for (i = 0; i < kObjects; ++i) {
      void* value = NULL;
      int flag = 0;
      MPI_Type_get_attr(types[i], k, &value, &flag);
      if (!flag || (long)value % kObjects != i) ++wrong;
    }
    CHECK_EQUAL(alive, kObjects);
    for (i = 0; i < kObjects; ++i) {
      const long j = i * 7919 % kObjects;
      MPI_Datatype doomed = types[j];
      if ((j + round) % 3 == 0) continue;
      MPI_Type_free(&doomed);
      types[j] = MPI_DATATYPE_NULL;
    }
  }
  for (i = 0; i < kObjects; ++i) {
    MPI_Datatype doomed = types[i];
    if (doomed != MPI_DATATYPE_NULL) MPI_Type_free(&doomed);
  }
  CHECK_EQUAL(wrong, 0);
  CHECK_EQUAL(alive, 0);
  CHECK(deleted > 0);
  MPI_Type_free_keyval(&k);
  status = check_report();
  MPI_Finalize();
  return status;
}
