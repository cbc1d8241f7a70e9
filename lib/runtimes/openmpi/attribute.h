/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Attributes of communicators, datatypes and windows, by attrcache. The interface within Open MPI.
 *
 * Each object has an attrcache_table, by value, in the place where a pointer to a hash table was.
 * All functions here may be called by any thread at any time. Those that may run callbacks of the
 * user's (all but the getters, the setters of new attributes, and ompi_attr_create_keyval) hold no
 * lock meanwhile.
 *
 * Results: MPI_SUCCESS, an error class of MPI, or the code that a callback of the user's returned.
 */

#ifndef OMPI_ATTRIBUTE_H
#define OMPI_ATTRIBUTE_H

/* clang-format off: it comes first */
#include "ompi_config.h"
/* clang-format on */

#include <stdbool.h>
#include <string.h>

#include "mpi.h"
#include "ompi/attribute/attrcache/attrcache.h"
#include "ompi/constants.h"

BEGIN_C_DECLS

/* A user's keyvals are from here on, 2^29 of them. Those that are predefined have the numbers of
 * mpi.h, and MPI_KEYVAL_INVALID is -1. The range differs from that of attrcache's interposers,
 * so that an interposer above this library can tell its own keyvals from ours. */
#define OMPI_ATTR_KEYVAL_BASE 0x20000000

/* Flags of ompi_attr_create_keyval*. */
#define OMPI_KEYVAL_F77 0x0002 /* the callbacks are Fortran's */

enum ompi_attribute_type_t {
  UNUSED_ATTR = 0,
  COMM_ATTR,
  TYPE_ATTR,
  WIN_ATTR,
};
typedef enum ompi_attribute_type_t ompi_attribute_type_t;

/* Fortran's callbacks with INTEGER values (MPI_KEYVAL_CREATE). */
typedef void (*ompi_fint_copy_attr_function)(MPI_Fint* object, MPI_Fint* keyval,
                                             MPI_Fint* extra_state, MPI_Fint* value_in,
                                             MPI_Fint* value_out, ompi_fortran_logical_t* flag,
                                             MPI_Fint* ierr);
typedef void (*ompi_fint_delete_attr_function)(MPI_Fint* object, MPI_Fint* keyval, MPI_Fint* value,
                                               MPI_Fint* extra_state, MPI_Fint* ierr);

/* Fortran's callbacks with INTEGER(KIND=MPI_ADDRESS_KIND) values (MPI_COMM_CREATE_KEYVAL). */
typedef void (*ompi_aint_copy_attr_function)(MPI_Fint* object, MPI_Fint* keyval, void* extra_state,
                                             void* value_in, void* value_out,
                                             ompi_fortran_logical_t* flag, MPI_Fint* ierr);
typedef void (*ompi_aint_delete_attr_function)(MPI_Fint* object, MPI_Fint* keyval, void* value,
                                               void* extra_state, MPI_Fint* ierr);

/* A callback of any shape. */
union ompi_attribute_fn_ptr_union_t {
  MPI_Comm_delete_attr_function* attr_communicator_delete_fn;
  MPI_Type_delete_attr_function* attr_datatype_delete_fn;
  MPI_Win_delete_attr_function* attr_win_delete_fn;

  MPI_Comm_copy_attr_function* attr_communicator_copy_fn;
  MPI_Type_copy_attr_function* attr_datatype_copy_fn;
  MPI_Win_copy_attr_function* attr_win_copy_fn;

  ompi_fint_delete_attr_function attr_fint_delete_fn;
  ompi_fint_copy_attr_function attr_fint_copy_fn;

  ompi_aint_delete_attr_function attr_aint_delete_fn;
  ompi_aint_copy_attr_function attr_aint_copy_fn;

  attrcache_callback* attr_any_fn;
};
typedef union ompi_attribute_fn_ptr_union_t ompi_attribute_fn_ptr_union_t;

/* ---- Beginning and end ---- */

/* Makes what keyvals and attributes need, when it is first called. That stays until the process
 * ends, beyond MPI_Finalize and later sessions, as keyvals belong to no session. Called when the
 * first objects are made, under the instances' lock. Returns an OMPI_ERR_*, as other parts' init
 * does. */
int ompi_attr_init(void);

/* The beginning and end of the world, which has predefined attributes. */
int ompi_attr_set_predefined_keyvals_for_wm(void);
void ompi_attr_delete_predefined_keyvals_for_wm(void);

/* Takes over the values that an instance doesn't change, once the components that determine them
 * are chosen. */
void ompi_attr_take_predefined(void);

/* Defines the predefined keyvals of the three kinds. */
int ompi_attr_define_predefined(attrcache_kind* communicators, attrcache_kind* windows);

/* Deletes the attributes of the predefined datatypes, which nothing else does. For the end of the
 * last instance, while MPI still works, as callbacks may call it. */
void ompi_attr_delete_predefined_datatypes_attributes(void);

/* ---- Keyvals ---- */

/* Makes a keyval. `bindings_extra_state`, if not null, is given to free() when the keyval is gone.
 * The other two take the extra state of a Fortran program. */
OMPI_DECLSPEC int ompi_attr_create_keyval(ompi_attribute_type_t type,
                                          ompi_attribute_fn_ptr_union_t copy_attr_fn,
                                          ompi_attribute_fn_ptr_union_t delete_attr_fn, int* key,
                                          void* extra_state, int flags, void* bindings_extra_state);
OMPI_DECLSPEC int ompi_attr_create_keyval_fint(ompi_attribute_type_t type,
                                               ompi_attribute_fn_ptr_union_t copy_attr_fn,
                                               ompi_attribute_fn_ptr_union_t delete_attr_fn,
                                               int* key, MPI_Fint extra_state, int flags,
                                               void* bindings_extra_state);
OMPI_DECLSPEC int ompi_attr_create_keyval_aint(ompi_attribute_type_t type,
                                               ompi_attribute_fn_ptr_union_t copy_attr_fn,
                                               ompi_attribute_fn_ptr_union_t delete_attr_fn,
                                               int* key, MPI_Aint extra_state, int flags,
                                               void* bindings_extra_state);

/* Frees a keyval and sets *key to MPI_KEYVAL_INVALID. It goes on serving as long as attributes are
 * attached under it, and freeing it again meanwhile does nothing. `predefined` is ignored: those
 * can't be freed. */
OMPI_DECLSPEC int ompi_attr_free_keyval(ompi_attribute_type_t type, int* key, bool predefined);

/* ---- Attributes ---- */

/* Attach a value, replacing any other: a C pointer, a Fortran INTEGER, an
 * INTEGER(KIND=MPI_ADDRESS_KIND). `predefined` is ignored: those can't be set. */
OMPI_DECLSPEC int ompi_attr_set_c(ompi_attribute_type_t type, void* object, attrcache_table* table,
                                  int key, void* attribute, bool predefined);
OMPI_DECLSPEC int ompi_attr_set_fint(ompi_attribute_type_t type, void* object,
                                     attrcache_table* table, int key, MPI_Fint attribute,
                                     bool predefined);
OMPI_DECLSPEC int ompi_attr_set_aint(ompi_attribute_type_t type, void* object,
                                     attrcache_table* table, int key, MPI_Aint attribute,
                                     bool predefined);

/* Read a value as one of the three languages does. Where nothing is attached, *flag is 0. */
OMPI_DECLSPEC int ompi_attr_get_c(ompi_attribute_type_t type, const attrcache_table* table, int key,
                                  void** attribute, int* flag);
OMPI_DECLSPEC int ompi_attr_get_fint(ompi_attribute_type_t type, const attrcache_table* table,
                                     int key, MPI_Fint* attribute, int* flag);
OMPI_DECLSPEC int ompi_attr_get_aint(ompi_attribute_type_t type, const attrcache_table* table,
                                     int key, MPI_Aint* attribute, int* flag);

/* Deletes a value. It is an error if nothing is attached. */
OMPI_DECLSPEC int ompi_attr_delete(ompi_attribute_type_t type, void* object, attrcache_table* table,
                                   int key, bool predefined);

/* ---- Objects ---- */

/* For a copy of an object. If it fails, nothing is attached to the new one. */
int ompi_attr_copy_all(ompi_attribute_type_t type, void* old_object, void* new_object,
                       attrcache_table* old_table, attrcache_table* new_table);

/* For an object whose end can be refused: stops at the first callback that fails. */
int ompi_attr_delete_all(ompi_attribute_type_t type, void* object, attrcache_table* table);

/* For an object whose end can't be refused: deletes all, whatever callbacks return. */
void ompi_attr_delete_all_finally(ompi_attribute_type_t type, void* object, attrcache_table* table);

/* For the end of a datatype that has attributes, in its destructor. As long as MPI works, it
 * deletes them all; the callbacks may use the datatype, but must leave nothing behind that goes on
 * using it, such as a request. (If nothing else uses the datatype, MPI_Type_free deletes them
 * earlier, and the callbacks may leave such things behind.) After MPI's end it abandons them. */
struct ompi_datatype_t;
void ompi_attr_end_datatype(struct ompi_datatype_t* datatype);

/* For an object that its user has not freed before the end of MPI: no callback is called. */
void ompi_attr_abandon_all(ompi_attribute_type_t type, attrcache_table* table);

END_C_DECLS

#endif /* OMPI_ATTRIBUTE_H */
