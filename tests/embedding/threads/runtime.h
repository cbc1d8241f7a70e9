/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The internals of the small MPI: its ranks and its objects, with all that attrcache needs in a
 * runtime's data: a domain in each rank, and a table in each object.
 */
#ifndef ATTRCACHE_TESTS_EMBEDDING_THREADS_RUNTIME_H_
#define ATTRCACHE_TESTS_EMBEDDING_THREADS_RUNTIME_H_

#include <attrcache/attrcache.h>
#include <pthread.h>

#include "mpi.h"

/* All-zero bytes are an empty table, so calloc initializes it. */
struct tiny_comm {
  attrcache_table attributes;
  int rank, size;
  pthread_barrier_t* barrier; /* of all ranks, or null for one */
};

struct tiny_win {
  attrcache_table attributes;
  void* base;
  MPI_Aint size;
  int unit;
};

struct tiny_rank {
  attrcache_domain* domain;
  attrcache_kind *comms, *wins;
  struct tiny_comm world, self;
};

/* The calling thread's rank. */
extern _Thread_local struct tiny_rank* tiny_me;

/* attributes.c: called by init and finalize, and where objects are made, copied and freed. */
int tiny_attributes_begin(struct tiny_rank* rank);
int tiny_attributes_end(struct tiny_rank* rank);
int tiny_copy_attributes(attrcache_kind* kind, attrcache_table* old_table, void* old,
                         attrcache_table* new_table, void* fresh);
int tiny_delete_attributes(attrcache_kind* kind, attrcache_table* table, void* object);

#endif /* ATTRCACHE_TESTS_EMBEDDING_THREADS_RUNTIME_H_ */
