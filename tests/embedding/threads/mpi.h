/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The header of a small MPI whose ranks are threads of one process. It has as much of MPI as
 * attributes need. runtime.h and attributes.c show how this MPI embeds attrcache.
 */
#ifndef ATTRCACHE_TESTS_EMBEDDING_THREADS_MPI_H_
#define ATTRCACHE_TESTS_EMBEDDING_THREADS_MPI_H_

#include <stdint.h>

typedef struct tiny_comm* MPI_Comm;
typedef struct tiny_win* MPI_Win;
typedef struct tiny_info* MPI_Info;
typedef intptr_t MPI_Aint;

enum {
  MPI_SUCCESS = 0,
  MPI_ERR_COMM,
  MPI_ERR_WIN,
  MPI_ERR_KEYVAL,
  MPI_ERR_ARG,
  MPI_ERR_NO_MEM,
  MPI_ERR_OTHER
};

/* ---- Ranks and objects ---- */

#define MPI_COMM_NULL ((MPI_Comm)0)
#define MPI_WIN_NULL ((MPI_Win)0)
#define MPI_INFO_NULL ((MPI_Info)0)
#define MPI_COMM_WORLD (tiny_comm_world()) /* each rank has its own */
#define MPI_COMM_SELF (tiny_comm_self())
MPI_Comm tiny_comm_world(void);
MPI_Comm tiny_comm_self(void);

int MPI_Init(int* argc, char*** argv);
int MPI_Finalize(void);
int MPI_Abort(MPI_Comm comm, int code);
int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Comm_size(MPI_Comm comm, int* size);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* fresh);
int MPI_Comm_free(MPI_Comm* comm);
int MPI_Barrier(MPI_Comm comm);
int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win);
int MPI_Win_free(MPI_Win* win);

/* ---- Attributes ---- */

#define MPI_KEYVAL_INVALID 0

typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void*, void*, void*, int*);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void*, void*);
typedef int MPI_Win_copy_attr_function(MPI_Win, int, void*, void*, void*, int*);
typedef int MPI_Win_delete_attr_function(MPI_Win, int, void*, void*);

#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0)
#define MPI_COMM_DUP_FN ((MPI_Comm_copy_attr_function*)1)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function*)0)
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function*)0)
#define MPI_WIN_NULL_DELETE_FN ((MPI_Win_delete_attr_function*)0)

/* Predefined keyvals. */
#define MPI_TAG_UB 1
#define MPI_WIN_BASE 2
#define MPI_WIN_SIZE 3
#define MPI_WIN_DISP_UNIT 4

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove,
                           int* keyval, void* extra_state);
int MPI_Comm_free_keyval(int* keyval);
int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value);
int MPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag);
int MPI_Comm_delete_attr(MPI_Comm comm, int keyval);

int MPI_Win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove,
                          int* keyval, void* extra_state);
int MPI_Win_free_keyval(int* keyval);
int MPI_Win_set_attr(MPI_Win win, int keyval, void* value);
int MPI_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag);
int MPI_Win_delete_attr(MPI_Win win, int keyval);

#endif /* ATTRCACHE_TESTS_EMBEDDING_THREADS_MPI_H_ */
