/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What our files for MPICH use of its internal headers, declared here in our own words and no more
 * than that. It stands in for them in the everyday test, which compiles and tries our files without
 * MPICH (tests/runtimes). In MPICH itself its own mpiimpl.h is found.
 */
#ifndef ATTRCACHE_MPICH_DECLARATIONS_MPIIMPL_H_
#define ATTRCACHE_MPICH_DECLARATIONS_MPIIMPL_H_

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* What each file defines anew, and functions that no test needs. */
#define WEAK __attribute__((weak))

/* ---- mpi.h ---- */

typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Win;
typedef intptr_t MPI_Aint;
typedef int MPI_Fint;

typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void*, void*, void*, int*);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void*, void*);
typedef int MPI_Type_copy_attr_function(MPI_Datatype, int, void*, void*, void*, int*);
typedef int MPI_Type_delete_attr_function(MPI_Datatype, int, void*, void*);
typedef int MPI_Win_copy_attr_function(MPI_Win, int, void*, void*, void*, int*);
typedef int MPI_Win_delete_attr_function(MPI_Win, int, void*, void*);
MPI_Comm_copy_attr_function MPIR_Dup_fn;
typedef void MPIX_Destructor_function(void*);

#define MPI_KEYVAL_INVALID 0x24000000
#define MPI_DATATYPE_NULL 0x0c000000
#define MPI_TAG_UB 0x64400001
#define MPI_HOST 0x64400003
#define MPI_IO 0x64400005
#define MPI_WTIME_IS_GLOBAL 0x64400007
#define MPI_UNIVERSE_SIZE 0x64400009
#define MPI_LASTUSEDCODE 0x6440000b
#define MPI_APPNUM 0x6440000d
#define MPI_WIN_BASE 0x66000001
#define MPI_WIN_SIZE 0x66000003
#define MPI_WIN_DISP_UNIT 0x66000005
#define MPI_WIN_CREATE_FLAVOR 0x66000007
#define MPI_WIN_MODEL 0x66000009

enum {
  MPI_SUCCESS = 0,
  MPI_ERR_ARG = 12,
  MPI_ERR_OTHER = 15,
  MPI_ERR_INTERN = 16,
  MPI_ERR_KEYVAL = 48
};

/* ---- mpichconf.h ---- */

#define HAVE_FORTRAN_BINDING 1
#define MPICH_ERROR_MSG__ALL 8
#if MPICH_NUMVERSION < 50000000
#define F77_FALSE_VALUE 0
#define MPICH_ERROR_MSG_LEVEL MPICH_ERROR_MSG__ALL
#else
#define ENABLE_THREADCOMM 1
WEAK int MPIR_fortran_false;
#endif

/* ---- MPL ---- */

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define ATTRIBUTE(x) __attribute__(x)
#define MPL_UNREFERENCED_ARG(argument) ((void)(argument))
#define MPL_malloc(size, class) malloc(size)
#define MPL_free(memory) free(memory)

/* ---- Errors, locks ---- */

#define MPIR_ERR_SET1(error, class, generic, specific, argument) \
  ((void)(argument), MPIR_ERR_SET(error, class, generic))
#define MPIR_ERR_SET(error, class, generic) ((error) = (class))
#define MPIR_Assert(condition) ((condition) ? (void)0 : __builtin_trap())
WEAK int MPIR_locked; /* 1 within the global critical section */
#define MPID_THREAD_CS_EXIT(name, mutex) (MPIR_Assert(MPIR_locked), MPIR_locked = 0)
#define MPID_THREAD_CS_ENTER(name, mutex) (MPIR_Assert(!MPIR_locked), MPIR_locked = 1)

/* ---- Attributes ---- */

#ifdef MPIR_ATTR_AS_FORTRAN
typedef int(MPII_Attr_copy_proxy)(MPI_Comm_copy_attr_function*, int, int, void*, void*, void**,
                                  int*);
typedef int(MPII_Attr_delete_proxy)(MPI_Comm_delete_attr_function*, int, int, void*, void*);
#else
typedef enum { MPIR_ATTR_PTR = 0, MPIR_ATTR_AINT = 1, MPIR_ATTR_INT = 3 } MPIR_Attr_type;
typedef int(MPII_Attr_copy_proxy)(MPI_Comm_copy_attr_function*, int, int, void*, MPIR_Attr_type,
                                  void*, void**, int*);
typedef int(MPII_Attr_delete_proxy)(MPI_Comm_delete_attr_function*, int, int, MPIR_Attr_type, void*,
                                    void*);
#endif
void MPII_Keyval_set_proxy(int keyval, MPII_Attr_copy_proxy copy_proxy,
                           MPII_Attr_delete_proxy delete_proxy);
typedef void MPII_Attr_fn(void);
void MPII_Keyval_set_fortran(int keyval, int of_mpi1, MPII_Attr_fn* (*known)(MPII_Attr_fn*));

#include "mpir_attr.h"

/* ---- Objects ---- */

#ifdef ENABLE_THREADCOMM
/* A thread's list of the threadcomms whose parallel region it is in. */
typedef struct MPIR_Threadcomm {
  int kind;
} MPIR_Threadcomm;
typedef struct {
  MPIR_Attr_table* attributes;
} MPIR_threadcomm_tls_t;
typedef struct UT_array UT_array;
WEAK _Thread_local UT_array* MPIR_threadcomm_array;
WEAK MPIR_threadcomm_tls_t* MPIR_threadcomm_get_tls(MPIR_Threadcomm* threadcomm);
#endif

typedef struct MPIR_Comm {
  int handle;
  MPIR_Attr_table attributes;
#ifdef ENABLE_THREADCOMM
  MPIR_Threadcomm* threadcomm;
#endif
} MPIR_Comm;

typedef struct MPIR_Datatype {
  int handle;
  MPIR_Attr_table attributes;
} MPIR_Datatype;

typedef struct {
  int handle;
  void* base;
  MPI_Aint size;
  int disp_unit;
  MPIR_Attr_table attributes;
  int copyDispUnit;
  MPI_Aint copySize;
  int create_flavor, model, copyCreateFlavor, copyModel;
} MPIR_Win;

enum { MPIR_DATATYPE_N_BUILTIN = 4 };
WEAK MPIR_Datatype MPIR_Datatype_builtin[MPIR_DATATYPE_N_BUILTIN];
#ifndef MPIR_ATTR_PAIRTYPES
enum { MPIR_DATATYPE_N_PREDEFINED = 6 };
WEAK MPI_Datatype MPIR_Datatype_index_to_predefined[MPIR_DATATYPE_N_PREDEFINED];
#else
#define MPI_FLOAT_INT ((MPI_Datatype)0x8c000000)
WEAK int MPIR_num_pairtypes;
#endif
WEAK MPIR_Datatype* MPIR_datatype_of(MPI_Datatype handle);
#define MPIR_Datatype_get_ptr(handle, pointer) ((pointer) = MPIR_datatype_of(handle))

enum { MPIR_UNIVERSE_SIZE_NOT_SET = -1, MPIR_UNIVERSE_SIZE_NOT_AVAILABLE = -2 };
WEAK int MPID_Get_universe_size(int* size);
WEAK struct MPIR_Process_t {
  struct {
    int appnum, host, io, lastusedcode, tag_ub, universe, wtime_is_global;
  } attrs;
  MPIR_Comm *comm_self, *comm_world;
} MPIR_Process;

/* ---- mpir_impl.h ---- */

#ifdef MPIR_ATTR_AS_FORTRAN
#define DECLARE_ATTR(Kind, Object)                                           \
  int MPIR_##Kind##_get_attr_impl(Object*, int, void*, int*);                \
  int MPIR_##Kind##_set_attr_impl(Object*, int, void*);                      \
  int MPIR_##Kind##_get_attr_as_fortran_impl(Object*, int, void*, int*);     \
  int MPIR_##Kind##_set_attr_as_fortran_impl(Object*, int, void*);           \
  int MPIR_##Kind##_create_keyval_x_impl(MPI_##Kind##_copy_attr_function*,   \
                                         MPI_##Kind##_delete_attr_function*, \
                                         MPIX_Destructor_function*, int*, void*)
#else
#define DECLARE_ATTR(Kind, Object)                                            \
  int MPIR_##Kind##_get_attr_impl(Object*, int, void*, int*, MPIR_Attr_type); \
  int MPIR_##Kind##_set_attr_impl(Object*, int, void*, MPIR_Attr_type)
#endif
#define DECLARE(Kind, Object)                                                            \
  int MPIR_##Kind##_create_keyval_impl(MPI_##Kind##_copy_attr_function*,                 \
                                       MPI_##Kind##_delete_attr_function*, int*, void*); \
  int MPIR_##Kind##_delete_attr_impl(Object*, int);                                      \
  DECLARE_ATTR(Kind, Object)
DECLARE(Comm, MPIR_Comm);
DECLARE(Type, MPIR_Datatype);
DECLARE(Win, MPIR_Win);
#undef DECLARE
#undef DECLARE_ATTR

#endif /* ATTRCACHE_MPICH_DECLARATIONS_MPIIMPL_H_ */
