/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef STANDS_IN_FOR_MPI_H
#define STANDS_IN_FOR_MPI_H

#include <stdint.h>

typedef struct ompi_communicator_t* MPI_Comm;
typedef struct ompi_datatype_t* MPI_Datatype;
typedef struct ompi_win_t* MPI_Win;
typedef intptr_t MPI_Aint;
typedef int MPI_Fint;

enum {
  MPI_SUCCESS = 0,
  MPI_ERR_ARG = 13,
  MPI_ERR_OTHER = 16,
  MPI_ERR_NO_MEM = 39,
  MPI_ERR_KEYVAL = 36
};
enum { MPI_PROC_NULL = -2, MPI_ANY_SOURCE = -1, MPI_KEYVAL_INVALID = -1 };
enum {
  MPI_TAG_UB,
  MPI_HOST,
  MPI_IO,
  MPI_WTIME_IS_GLOBAL,
  MPI_APPNUM,
  MPI_LASTUSEDCODE,
  MPI_UNIVERSE_SIZE,
  MPI_WIN_BASE,
  MPI_WIN_SIZE,
  MPI_WIN_DISP_UNIT,
  MPI_WIN_CREATE_FLAVOR,
  MPI_WIN_MODEL,
  MPI_FT
};

typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void*, void*, void*, int*);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void*, void*);
typedef int MPI_Type_copy_attr_function(MPI_Datatype, int, void*, void*, void*, int*);
typedef int MPI_Type_delete_attr_function(MPI_Datatype, int, void*, void*);
typedef int MPI_Win_copy_attr_function(MPI_Win, int, void*, void*, void*, int*);
typedef int MPI_Win_delete_attr_function(MPI_Win, int, void*, void*);

MPI_Comm_copy_attr_function MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN, OMPI_C_MPI_NULL_COPY_FN,
    OMPI_C_MPI_DUP_FN;
MPI_Comm_delete_attr_function MPI_COMM_NULL_DELETE_FN, OMPI_C_MPI_NULL_DELETE_FN;
MPI_Type_copy_attr_function MPI_TYPE_NULL_COPY_FN, MPI_TYPE_DUP_FN;
MPI_Type_delete_attr_function MPI_TYPE_NULL_DELETE_FN;
MPI_Win_copy_attr_function MPI_WIN_NULL_COPY_FN, MPI_WIN_DUP_FN;
MPI_Win_delete_attr_function MPI_WIN_NULL_DELETE_FN;

#endif
