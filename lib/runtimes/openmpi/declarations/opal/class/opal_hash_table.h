/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef STANDS_IN_FOR_OPAL_HASH_TABLE_H
#define STANDS_IN_FOR_OPAL_HASH_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum { OPAL_SUCCESS = 0, OPAL_ERROR = -1 };

/* As many values as there are, one after the other. */
typedef struct opal_hash_table_t {
  size_t size;
  void** values;
} opal_hash_table_t;

static inline size_t opal_hash_table_get_size(opal_hash_table_t* table) { return table->size; }

static inline int opal_hash_table_get_next_key_uint32(opal_hash_table_t* table, uint32_t* key,
                                                      void** value, void* node, void** next) {
  void** const place = node != NULL ? (void**)node + 1 : table->values;

  if (place == table->values + table->size) return OPAL_ERROR;
  *key = (uint32_t)(place - table->values);
  *value = *place;
  *next = place;
  return OPAL_SUCCESS;
}

static inline int opal_hash_table_get_first_key_uint32(opal_hash_table_t* table, uint32_t* key,
                                                       void** value, void** node) {
  return opal_hash_table_get_next_key_uint32(table, key, value, NULL, node);
}

#endif
