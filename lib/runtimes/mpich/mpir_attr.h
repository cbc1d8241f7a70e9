/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Attributes in MPICH, by attrcache: the objects' tables, and the functions that dup, free,
 * finalize and initialization call. Those that MPI's own functions call are declared in
 * mpir_impl.h, and defined in attr_impl.c.
 *
 * No lock is needed around anything here. A function that may run a user's callback leaves MPICH's
 * global critical section meanwhile, so it must be called within that section, as the bodies of MPI
 * functions are; other threading models have no such section.
 */
#ifndef MPIR_ATTR_H_INCLUDED
#define MPIR_ATTR_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

/* All in one library, so that calls need no table of symbols. */
#pragma GCC visibility push(hidden)
#include "attrcache/attrcache.h"

/* What each communicator, datatype and window has. All-zero bytes are an empty one, as in a new or
 * freed object of MPICH's pools. Its alignment is 16, which static objects and malloc have. */
typedef attrcache_table MPIR_Attr_table;

/* Users' keyvals begin here; as ever, MPICH's direct handles for keyvals are among them. Predefined
 * keyvals, which are builtin handles, and those of attrcache's interposers lie elsewhere. */
#define MPIR_ATTR_KEYVALS 0xa0000000u

/* Fortran's keyval for a predefined keyval of C's; also in builds without Fortran. */
#define MPIR_ATTR_IN_FORTRAN(keyval_) ((keyval_) + 1)

/* attrcache's kinds of objects, which stay for the life of the process: so keyvals and attributes
 * outlive a session. Indexed by MPIR_Attr_kind. */
typedef enum {
  MPIR_ATTR_COMM = ATTRCACHE_COMMUNICATOR,
  MPIR_ATTR_TYPE = ATTRCACHE_DATATYPE,
  MPIR_ATTR_WIN = ATTRCACHE_WINDOW
} MPIR_Attr_kind;
extern attrcache_kind* MPIR_Attr_kinds[3];

/* Whether an object never had an attribute: then there is nothing to copy or to delete. */
#define MPIR_Attr_is_empty(table_) (attrcache_table_is_empty(table_))

/* What callbacks get as the object: its handle. In the library of MPI's standard ABI, which MPICH
 * makes of the same files from version 5 on, handles are pointers; inside they are ints there,
 * too. */
#if defined(BUILD_MPI_ABI) || defined(MPICH_BUILD_MPI_ABI)
#define MPIR_ATTR_ABI 1
#define MPIR_ATTR_HANDLES_ARE_INTS 0
void* MPIR_Attr_object(int handle);
#else
#define MPIR_ATTR_HANDLES_ARE_INTS 1
static inline void* MPIR_Attr_object(int handle) { return (void*)(intptr_t)handle; }
#endif

/* Where each thread of a threadcomm (MPICH 5) has its attributes, in the communicator's parallel
 * region; otherwise in the communicator itself. */
struct MPIR_Comm;
MPIR_Attr_table* MPIR_Attr_table_of_thread(struct MPIR_Comm* comm);

static inline void MPIR_Attr_init_table(MPIR_Attr_table* table) {
  const MPIR_Attr_table empty = ATTRCACHE_TABLE_INIT;
  *table = empty;
}

/* Prepares keyvals, whenever MPI is initialized, for the first time or again. */
int MPIR_Attr_init(void);

/* Takes over the values of predefined attributes, once the device has set them. */
void MPIR_Attr_take_predefined(void);

/* Copies the attributes of an object that is dup'ed to a table that is empty. If that fails, it is
 * empty again; then delete functions get `new_handle`. */
int MPIR_Attr_copy_all(MPIR_Attr_kind kind, int handle, MPIR_Attr_table* from, int new_handle,
                       MPIR_Attr_table* to);

/* Deletes an object's attributes, all of them, as MPICH always did, and returns the first failure
 * of a delete function: then the object must stay. */
int MPIR_Attr_delete_all(MPIR_Attr_kind kind, int handle, MPIR_Attr_table* table);

/* The same for an object that goes in any case: afterwards the table is empty, even if other
 * threads or callbacks go on using the object. */
int MPIR_Attr_delete_finally(MPIR_Attr_kind kind, int handle, MPIR_Attr_table* table);

/* As MPI_Finalize begins, deletes the attributes of MPI_COMM_SELF, of MPI_COMM_WORLD, and of what
 * is left of sessions and files. It does so outside of any critical section, even if sessions go
 * on: MPICH itself does nothing before the last of them ends, and then holds a lock that
 * MPI_Session_finalize takes, too. If a communicator's delete function fails, so does this, at
 * once; the first failure of the others, which has been raised, goes to `ended`. */
int MPIR_Attr_end_world(int* ended);

/* As MPI ends, with the last session or in MPI_Finalize, the same for what came later, and for
 * predefined datatypes, which are never freed and which sessions use, too. The two communicators
 * are still there then, so that delete functions may use them. Datatypes of
 * MPI_Type_create_f90_real and its kin are kept elsewhere: the function does the same for these,
 * once there are any. */
struct MPIR_Datatype;
int MPIR_Attr_delete_from_predefined_objects(void);
void MPIR_Attr_delete_from_type(struct MPIR_Datatype* type);
extern void (*MPIR_Attr_delete_from_f90_types)(void);

/* Deletes the attributes of a session or a file (proposed.h). To be called before the object ends,
 * outside of any critical section. An error has already been raised: return its code unchanged once
 * the object has ended. */
int MPIR_Attr_end_session(int handle);
int MPIR_Attr_end_file(const void* handle);
/* MPICH's own: its scripts no longer declare them, because our edits give their callers bodies. */
struct MPIR_Session;
int MPIR_Session_finalize_impl(struct MPIR_Session* session);
int MPIR_Finalize_impl(void);
#ifdef MPI_FILE_NULL
int MPIR_File_close_impl(MPI_File* file);
#endif

#ifdef MPIR_ATTR_AS_FORTRAN
/* The language in which a value is set or read; MPICH before 5.1 has it in a header of its own. */
typedef enum { MPIR_ATTR_PTR = 0, MPIR_ATTR_AINT = 1, MPIR_ATTR_INT = 3 } MPIR_Attr_type;
#endif

/* The bodies of MPI_Comm_free_keyval and its kin. */
int MPIR_Comm_free_keyval_impl(int* comm_keyval);
int MPIR_Type_free_keyval_impl(int* type_keyval);
int MPIR_Win_free_keyval_impl(int* win_keyval);

/* Where C reads the attributes that are the same on all communicators: MPI_TAG_UB, MPI_HOST,
 * MPI_IO, MPI_WTIME_IS_GLOBAL and Fortran's keyvals for them, which are consecutive ints. attrcache
 * guarantees that these addresses don't change. */
enum { MPIR_ATTR_ADDRESSES = 8 };
extern void* MPIR_Attr_addresses[MPIR_ATTR_ADDRESSES];

/* What attr_impl.c and attrutil.c have in common. */
int MPIR_Attr_error(int result, const char* object);
int MPIR_Attr_callback_error(int result, int code, const char* object, int of_copy);
int MPIR_Attr_get_universe_size(void);

#pragma GCC visibility pop
#endif /* MPIR_ATTR_H_INCLUDED */
