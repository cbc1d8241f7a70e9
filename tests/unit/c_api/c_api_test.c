/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The header and the API in plain C11: what a runtime written in C embeds. Returns 0 if all is
 * well.
 */
#include <stdio.h>

#include "attrcache/attrcache.h"

static int failures;

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

struct communicator {
  int rank;
  attrcache_table attributes;
};

static int deletions;

static int copy(void* object, int keyval, void* extra_state, void* in, void* out, int* flag) {
  (void)object;
  (void)keyval;
  (void)extra_state;
  *(void**)out = in;
  *flag = 1;
  return 0;
}

static int delete (void* object, int keyval, void* value, void* extra_state) {
  (void)object;
  (void)keyval;
  (void)value;
  ++*(int*)extra_state;
  return 0;
}

int main(void) {
  static struct communicator a = {1, ATTRCACHE_TABLE_INIT};
  static struct communicator b; /* all zero: a valid empty table */
  attrcache_domain* domain = NULL;
  attrcache_kind* kind;
  attrcache_callbacks callbacks = {(attrcache_callback*)copy,
                                   (attrcache_callback*)delete,
                                   &deletions,
                                   ATTRCACHE_C,
                                   NULL,
                                   NULL,
                                   NULL};
  int keyval = ATTRCACHE_KEYVAL_INVALID;
  int code = 0;
  void* value = NULL;
  attrcache_leaks leaks;

  _Static_assert(sizeof(attrcache_table) == 64, "at most 64 bytes");
  CHECK(attrcache_version() == ATTRCACHE_VERSION);
  CHECK(attrcache_domain_create(NULL, &domain) == ATTRCACHE_OK);
  kind = attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR);
  CHECK(attrcache_keyval_create(kind, &callbacks, &keyval) == ATTRCACHE_OK);
  CHECK(attrcache_set(kind, &a.attributes, &a, keyval, (intptr_t)&a, ATTRCACHE_AS_POINTER, &code) ==
        ATTRCACHE_OK);
  CHECK(attrcache_copy_all(kind, &a.attributes, &a, &b.attributes, &b, &code) == ATTRCACHE_OK);
  CHECK(attrcache_get(kind, &b.attributes, keyval, &value) == ATTRCACHE_OK);
  CHECK(value == &a);
  CHECK(attrcache_keyval_free(kind, &keyval) == ATTRCACHE_OK);
  CHECK(keyval == ATTRCACHE_KEYVAL_INVALID);
  CHECK(attrcache_delete_all(kind, &a.attributes, &a, ATTRCACHE_DRAIN, &code) == ATTRCACHE_OK);
  CHECK(attrcache_delete_all(kind, &b.attributes, &b, ATTRCACHE_DRAIN, &code) == ATTRCACHE_OK);
  CHECK(deletions == 2);
  CHECK(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, &leaks) == ATTRCACHE_OK);
  CHECK(leaks.keyvals == 0 && leaks.freed_keyvals == 0 && leaks.attributes == 0);
  return failures != 0;
}
