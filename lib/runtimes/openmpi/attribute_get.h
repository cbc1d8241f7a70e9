/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The first step of MPI_Comm_get_attr, MPI_Type_get_attr and MPI_Win_get_attr, once their arguments
 * are checked: most often the attribute is there, and then no function is called and no register
 * saved.
 *
 * Only for libmpi, which hides attrcache. All other libraries call ompi_attr_get_c().
 */

#ifndef OMPI_ATTRIBUTE_GET_H
#define OMPI_ATTRIBUTE_GET_H

#include "ompi/attribute/attrcache/attrcache_inline.h"
#include "ompi/attribute/attribute.h"
#include "opal/prefetch.h"

/* The kinds of objects, by ompi_attribute_type_t. */
extern __attribute__((visibility("hidden"))) attrcache_kind* ompi_attr_kinds[WIN_ATTR + 1];

/* MPI_TAG_UB, for users. */
extern __attribute__((visibility("hidden"))) int ompi_attr_tag_ub;

/* ATTRCACHE_OK and the value, as C reads it, or ATTRCACHE_ABSENT, with the flag that tells them
 * apart; or ATTRCACHE_INLINE_ASK: call one of the functions below. */
__attribute__((always_inline)) static inline int ompi_attr_get_c_at_once(
    ompi_attribute_type_t type, const attrcache_table* table, int key, void* attribute, int* flag) {
  const int result = attrcache_get_at_once(ompi_attr_kinds[type], table, OMPI_ATTR_KEYVAL_BASE, key,
                                           (void**)attribute);
  if (OPAL_LIKELY(ATTRCACHE_OK == result)) {
    *flag = 1;
  } else if (ATTRCACHE_ABSENT == result) {
    *flag = 0;
  }
  return result;
}

/* The rest of the three functions, error handlers included. */
__attribute__((visibility("hidden"))) int ompi_attr_comm_get_missed(MPI_Comm comm, int key,
                                                                    void* attribute, int* flag);
__attribute__((visibility("hidden"))) int ompi_attr_type_get_missed(MPI_Datatype type, int key,
                                                                    void* attribute, int* flag);
__attribute__((visibility("hidden"))) int ompi_attr_win_get_missed(MPI_Win win, int key,
                                                                   void* attribute, int* flag);

#endif /* OMPI_ATTRIBUTE_GET_H */
