// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The part of MPI-5.0's standard ABI that the interposer needs (from the standard's chapter on the
// ABI and its lists of constants): types, values and functions. It takes the place of an MPI's
// mpi.h, so that the interposer can be built where no MPI has one for this ABI.
// tests/mpi/field.sh compares it with the mpi.h of those MPIs that do.

#ifndef ATTRCACHE_MPI_NATIVE_MPI_ABI_ABI_H_
#define ATTRCACHE_MPI_NATIVE_MPI_ABI_ABI_H_

#include <stdint.h>

// NOLINTBEGIN: the standard's names.
#ifdef __cplusplus
extern "C" {
#endif

// Handles are pointers to types that are never defined. Predefined handles are small numbers.
typedef struct MPI_ABI_Comm* MPI_Comm;
typedef struct MPI_ABI_Datatype* MPI_Datatype;
typedef struct MPI_ABI_Win* MPI_Win;
typedef struct MPI_ABI_Info* MPI_Info;
typedef struct MPI_ABI_Group* MPI_Group;
typedef struct MPI_ABI_Request* MPI_Request;
typedef struct MPI_ABI_Errhandler* MPI_Errhandler;
typedef struct MPI_ABI_Session* MPI_Session;
typedef struct MPI_ABI_File* MPI_File;

#define MPI_COMM_NULL ((MPI_Comm)0x100)
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_COMM_SELF ((MPI_Comm)0x102)
#define MPI_WIN_NULL ((MPI_Win)0x110)
#define MPI_FILE_NULL ((MPI_File)0x118)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x200)

typedef intptr_t MPI_Aint;
// Only stands in for the type where the interposer's sources name it. It is never used, because the
// standard ABI has no Fortran functions.
typedef int MPI_Fint;

enum {
  MPI_SUCCESS = 0,
  MPI_ERR_ARG = 13,
  MPI_ERR_OTHER = 16,
  MPI_ERR_FILE = 30,
  MPI_ERR_KEYVAL = 36,
  MPI_ERR_NO_MEM = 39,

  MPI_MAX_OBJECT_NAME = 128,
  MPI_MAX_LIBRARY_VERSION_STRING = 8192,

  MPI_THREAD_SINGLE = 0,
  MPI_THREAD_FUNNELED = 1024,
  MPI_THREAD_SERIALIZED = 2048,
  MPI_THREAD_MULTIPLE = 4096,

  MPI_KEYVAL_INVALID = 0,
  MPI_TAG_UB = 501,
  MPI_IO = 502,
  MPI_HOST = 503,
  MPI_WTIME_IS_GLOBAL = 504,
  MPI_APPNUM = 505,
  MPI_LASTUSEDCODE = 506,
  MPI_UNIVERSE_SIZE = 507,
  MPI_WIN_BASE = 601,
  MPI_WIN_DISP_UNIT = 602,
  MPI_WIN_SIZE = 603,
  MPI_WIN_CREATE_FLAVOR = 604,
  MPI_WIN_MODEL = 605
};

typedef int(MPI_Comm_copy_attr_function)(MPI_Comm, int, void*, void*, void*, int*);
typedef int(MPI_Comm_delete_attr_function)(MPI_Comm, int, void*, void*);
typedef int(MPI_Type_copy_attr_function)(MPI_Datatype, int, void*, void*, void*, int*);
typedef int(MPI_Type_delete_attr_function)(MPI_Datatype, int, void*, void*);
typedef int(MPI_Win_copy_attr_function)(MPI_Win, int, void*, void*, void*, int*);
typedef int(MPI_Win_delete_attr_function)(MPI_Win, int, void*, void*);
// The types of MPI-1's callbacks, which an MPI's mpi.h may lack.
typedef int(MPI_Copy_function)(MPI_Comm, int, void*, void*, void*, int*);
typedef int(MPI_Delete_function)(MPI_Comm, int, void*, void*);

// MPI_*_NULL_COPY_FN and MPI_*_NULL_DELETE_FN are null pointers. MPI_*_DUP_FN has the address 1.
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0x0)
#define MPI_COMM_DUP_FN ((MPI_Comm_copy_attr_function*)0x1)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function*)0x0)
#define MPI_TYPE_NULL_COPY_FN ((MPI_Type_copy_attr_function*)0x0)
#define MPI_TYPE_DUP_FN ((MPI_Type_copy_attr_function*)0x1)
#define MPI_TYPE_NULL_DELETE_FN ((MPI_Type_delete_attr_function*)0x0)
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function*)0x0)
#define MPI_WIN_DUP_FN ((MPI_Win_copy_attr_function*)0x1)
#define MPI_WIN_NULL_DELETE_FN ((MPI_Win_delete_attr_function*)0x0)

// These are declared only for their types. The functions are found at run time.
int PMPI_Init(int* argc, char*** argv);
int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session);
int PMPI_Session_finalize(MPI_Session* session);
int PMPI_Comm_rank(MPI_Comm, int* rank);
int PMPI_Comm_size(MPI_Comm, int* size);
int PMPI_Abort(MPI_Comm, int code);

#ifdef __cplusplus
}
#endif
// NOLINTEND

#endif  // ATTRCACHE_MPI_NATIVE_MPI_ABI_ABI_H_
