/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The first example of README.md and attrcache.h (excerpts_test compares them with it).
 */

#include <attrcache/attrcache.h>
#include <stdio.h>
#include <stdlib.h>

struct comm {
  attrcache_table attributes;  // all zero: an empty table
};

static int delete_plan(void* comm, int keyval, void* plan, void* extra_state) {
  (void)comm, (void)keyval, (void)extra_state;
  free(plan);
  return 0;
}

int main(void) {
  struct comm comm = {0};
  attrcache_domain* domain;
  attrcache_domain_create(NULL, &domain);
  attrcache_kind* comms;
  attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &comms);  // or attrcache_kind_register
  attrcache_callbacks callbacks = {.size = sizeof callbacks,
                                   .delete_fn = (attrcache_callback*)delete_plan};
  int plan_key;
  attrcache_keyval_create(comms, &callbacks, &plan_key);
  attrcache_set(comms, &comm.attributes, &comm, plan_key, calloc(1, 64), NULL);
  void* plan;
  if (attrcache_get(comms, &comm.attributes, plan_key, &plan) == ATTRCACHE_OK) puts("planned");
  attrcache_delete_all(comms, &comm.attributes, &comm, ATTRCACHE_STOP_AT_FAILURE, NULL);
  attrcache_keyval_free(comms, &plan_key);
  return attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, NULL);
}
