/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The program that gdb_test.sh looks at. It has keyvals of all sorts, and tables with near and far
 * slots. */

#include <attrcache/attrcache.h>
#include <stdio.h>

attrcache_domain* domain;
attrcache_kind* communicators;
attrcache_kind* sessions;
attrcache_table near_table = ATTRCACHE_TABLE_INIT;
attrcache_table far_table = ATTRCACHE_TABLE_INIT;
attrcache_table empty_table = ATTRCACHE_TABLE_INIT;
attrcache_borrowed borrowed;
attrcache_predefined lastusedcode = {
    sizeof lastusedcode, 501, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND, 0, NULL, NULL};
attrcache_predefined tag_ub = {sizeof tag_ub, 502, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND, 0,
                               NULL,          NULL};
int first, freed, farthest, leaf;

static int copy_it(void* object, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)object, (void)keyval, (void)extra;
  *(void**)out = in;
  *flag = 1;
  return 0;
}

static int delete_it(void* object, int keyval, void* value, void* extra) {
  (void)object, (void)keyval, (void)value, (void)extra;
  return 0;
}

void stop_here(void) { puts("ready"); }

#define OK(call)                     \
  do {                               \
    if ((call) != ATTRCACHE_OK) {    \
      printf("failed: %s\n", #call); \
      return 1;                      \
    }                                \
  } while (0)

int main(void) {
  attrcache_callbacks c = {.size = sizeof c,
                           .copy_fn = (attrcache_callback*)copy_it,
                           .delete_fn = (attrcache_callback*)delete_it,
                           .extra_state = (void*)0x77};
  attrcache_kind_options session = {sizeof session, ATTRCACHE_HANDLE_POINTER, "session", NULL};
  int saved;
  OK(attrcache_domain_create(NULL, &domain));
  attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &communicators);
  OK(attrcache_kind_register(domain, &session, &sessions));

  OK(attrcache_keyval_create(sessions, &c, &first));
  OK(attrcache_keyval_define(sessions, &tag_ub));
  OK(attrcache_keyval_define(sessions, &lastusedcode));
  c.language = ATTRCACHE_FORTRAN_AINT;
  OK(attrcache_keyval_create(sessions, &c, &freed));
  OK(attrcache_set_as(sessions, &near_table, NULL, freed, 9, ATTRCACHE_AS_AINT, NULL));
  OK(attrcache_set_as(sessions, &near_table, NULL, first, 0x1234, ATTRCACHE_AS_POINTER, NULL));
  saved = freed;
  OK(attrcache_keyval_free(sessions, &freed));
  freed = saved;
  OK(attrcache_borrow(sessions, &near_table, first, &borrowed));

  for (int i = 0; i < 3000; ++i) {
    OK(attrcache_keyval_create(communicators, NULL, &farthest));
    if (i == 40) leaf = farthest;
  }
  OK(attrcache_set_as(communicators, &far_table, NULL, farthest, 0xfa4, ATTRCACHE_AS_POINTER,
                      NULL));
  OK(attrcache_set_as(communicators, &far_table, NULL, leaf, 0x1eaf, ATTRCACHE_AS_POINTER, NULL));
  stop_here();
  return 0;
}
