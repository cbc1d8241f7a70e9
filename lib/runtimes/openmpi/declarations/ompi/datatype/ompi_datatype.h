/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef STANDS_IN_FOR_OMPI_DATATYPE_H
#define STANDS_IN_FOR_OMPI_DATATYPE_H

#include "mpi.h"
#include "ompi/attribute/attrcache/attrcache.h"

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

typedef struct opal_pointer_array_t {
  int size;
  void** items;
} opal_pointer_array_t;
extern opal_pointer_array_t ompi_datatype_f_to_c_table;

int opal_pointer_array_add(opal_pointer_array_t* array, void* item);
int opal_pointer_array_set_item(opal_pointer_array_t* array, int index, void* item);
static inline int opal_pointer_array_get_size(opal_pointer_array_t* array) { return array->size; }
static inline void* opal_pointer_array_get_item(opal_pointer_array_t* array, int index) {
  return array->items[index];
}

#endif
