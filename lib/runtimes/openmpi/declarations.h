/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the adapter needs of Open MPI's headers, in our own words: just enough to compile it, and to
 * run it under adapter_test, without Open MPI. All headers that it includes lead here (BUILD). In
 * Open MPI's own tree this file isn't there.
 */
#ifndef ATTRCACHE_OPENMPI_DECLARATIONS_H_
#define ATTRCACHE_OPENMPI_DECLARATIONS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attrcache/attrcache.h"

/* What each file defines anew, and functions that no test needs. */
#define WEAK __attribute__((weak))

#define BEGIN_C_DECLS
#define END_C_DECLS
#define OMPI_DECLSPEC
#define OPAL_ENABLE_FT_MPI 1
#define SIZEOF_INT 4
#define OMPI_SIZEOF_FORTRAN_INTEGER 4
#define OPAL_LIKELY(expression) __builtin_expect(!!(expression), 1)
#define OPAL_UNLIKELY(expression) __builtin_expect(!!(expression), 0)
typedef int ompi_fortran_logical_t;
enum { OMPI_SUCCESS = 0, OMPI_ERR_OUT_OF_RESOURCE = -2, OMPI_ERR_NOT_SUPPORTED = -8 };

/* ---- mpi.h ---- */

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

MPI_Comm_copy_attr_function MPI_COMM_DUP_FN;
WEAK MPI_Comm_copy_attr_function MPI_COMM_NULL_COPY_FN, OMPI_C_MPI_NULL_COPY_FN, OMPI_C_MPI_DUP_FN;
WEAK MPI_Comm_delete_attr_function MPI_COMM_NULL_DELETE_FN, OMPI_C_MPI_NULL_DELETE_FN;
WEAK MPI_Type_copy_attr_function MPI_TYPE_NULL_COPY_FN, MPI_TYPE_DUP_FN;
WEAK MPI_Type_delete_attr_function MPI_TYPE_NULL_DELETE_FN;
WEAK MPI_Win_copy_attr_function MPI_WIN_NULL_COPY_FN, MPI_WIN_DUP_FN;
WEAK MPI_Win_delete_attr_function MPI_WIN_NULL_DELETE_FN;

/* ---- Objects, with the members that edits.py adds ---- */

typedef struct ompi_communicator_t {
  int c_f_to_c_index;
  attrcache_table c_keyhash;
  void* instance;
} ompi_communicator_t;

typedef struct ompi_predefined_communicator_t {
  ompi_communicator_t comm;
} ompi_predefined_communicator_t;
WEAK ompi_predefined_communicator_t ompi_mpi_comm_world;

typedef struct opal_object_t {
  int obj_reference_count;
} opal_object_t;
static inline int opal_obj_update(opal_object_t* object, int by) {
  return object->obj_reference_count += by;
}
#define OBJ_SET_MAGIC_ID(object, value) ((void)0)

typedef struct ompi_datatype_t {
  opal_object_t super;
  int predefined;
  int d_f_to_c_index;
  attrcache_table d_keyhash;
} ompi_datatype_t;
static inline int ompi_datatype_is_predefined(const ompi_datatype_t* type) {
  return type->predefined;
}

typedef struct ompi_win_t {
  attrcache_table w_keyhash;
  int w_f_to_c_index;
  void* w_base;
  MPI_Aint w_size;
  int w_disp_unit;
  int w_create_flavor;
  int w_model;
} ompi_win_t;

/* ---- Containers ---- */

typedef struct opal_pointer_array_t {
  int size;
  void** items;
} opal_pointer_array_t;
WEAK opal_pointer_array_t ompi_datatype_f_to_c_table;
WEAK int opal_pointer_array_add(opal_pointer_array_t* array, void* item);
WEAK int opal_pointer_array_set_item(opal_pointer_array_t* array, int index, void* item);
static inline int opal_pointer_array_get_size(opal_pointer_array_t* array) { return array->size; }
static inline void* opal_pointer_array_get_item(opal_pointer_array_t* array, int index) {
  return array->items[index];
}

/* Those of the datatypes of MPI_Type_create_f90_real and its kin, of which there are none. */
enum { OPAL_SUCCESS = 0, OPAL_ERROR = -1 };
typedef struct opal_hash_table_t {
  size_t size;
} opal_hash_table_t;
WEAK opal_hash_table_t ompi_mpi_f90_integer_hashtable, ompi_mpi_f90_real_hashtable,
    ompi_mpi_f90_complex_hashtable;
static inline size_t opal_hash_table_get_size(opal_hash_table_t* table) { return table->size; }
WEAK int opal_hash_table_get_first_key_uint32(opal_hash_table_t*, uint32_t*, void**, void**);
WEAK int opal_hash_table_get_next_key_uint32(opal_hash_table_t*, uint32_t*, void**, void*, void**);

/* ---- The process, and errors ---- */

WEAK int ompi_instance_count;
WEAK int ompi_mpi_errcode_lastused;
WEAK bool ompi_ftmpi_enabled;
typedef struct mca_pml_base_module_t {
  int pml_max_tag;
} mca_pml_base_module_t;
WEAK mca_pml_base_module_t mca_pml;
typedef struct opal_process_info_t {
  uint32_t app_num;
  uint32_t univ_size;
} opal_process_info_t;
WEAK opal_process_info_t opal_process_info;
#define ompi_process_info opal_process_info

/* Each only returns the error; in Open MPI they call the object's error handler, or
 * MPI_COMM_WORLD's. */
#define OMPI_ERRHANDLER_RETURN(ret, object, error, function) \
  do {                                                       \
    if (0 != (ret)) return (void)(object), (error);          \
    return 0;                                                \
  } while (0)
#define OMPI_ERRHANDLER_NOHANDLE_RETURN(ret, error, function) \
  do {                                                        \
    if (0 != (ret)) return (error);                           \
    return 0;                                                 \
  } while (0)

#endif /* ATTRCACHE_OPENMPI_DECLARATIONS_H_ */
