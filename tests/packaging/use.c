/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The smallest C program that uses an installed attrcache. */

#include <attrcache/attrcache.h>
#include <stdio.h>

static int deleted;

static int on_delete(void* object, int keyval, void* value, void* extra_state) {
  (void)object, (void)keyval, (void)extra_state;
  deleted += *(int*)value;
  return 0;
}

int main(void) {
  attrcache_domain* domain;
  attrcache_callbacks callbacks = {.size = sizeof callbacks,
                                   .copy_fn = ATTRCACHE_DUP_FN,
                                   .delete_fn = (attrcache_callback*)on_delete};
  attrcache_table a = ATTRCACHE_TABLE_INIT, b = ATTRCACHE_TABLE_INIT;
  int keyval = ATTRCACHE_KEYVAL_INVALID, seven = 7;
  void* value = NULL;
  attrcache_kind* kind;

  if (attrcache_domain_create(NULL, &domain) != ATTRCACHE_OK) return 1;
  attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &kind);
  if (attrcache_keyval_create(kind, &callbacks, &keyval) != ATTRCACHE_OK) return 2;
  if (attrcache_set(kind, &a, &a, keyval, &seven, NULL)) return 3;
  if (attrcache_copy_all(kind, &a, &a, &b, &b, NULL) != ATTRCACHE_OK) return 4;
  if (attrcache_get(kind, &b, keyval, &value) != ATTRCACHE_OK || value != &seven) return 5;
  if (attrcache_delete_all(kind, &a, &a, ATTRCACHE_DRAIN, NULL) != ATTRCACHE_OK) return 6;
  if (attrcache_delete_all(kind, &b, &b, ATTRCACHE_DRAIN, NULL) != ATTRCACHE_OK) return 7;
  if (attrcache_keyval_free(kind, &keyval) != ATTRCACHE_OK || deleted != 14) return 8;
  if (attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, NULL) != ATTRCACHE_OK) return 9;
  printf("attrcache %d works in C\n", attrcache_version());
  return attrcache_version() != ATTRCACHE_VERSION;
}
