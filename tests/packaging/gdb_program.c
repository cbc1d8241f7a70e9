/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The program that gdb_test.sh looks at. It has keyvals of all sorts, and tables with near and far
 * slots. */

#include <attrcache/attrcache.h>
#include <stdio.h>

attrcache_domain* domain;
attrcache_kind* communicators;
attrcache_kind* sessions;
attrcache_table near_table, far_table, empty_table;
attrcache_borrowed borrowed;
attrcache_predefined lastusedcode = {
    sizeof lastusedcode, 501, ATTRCACHE_AS_INT, ATTRCACHE_PER_KIND, 0, NULL, NULL};
int keyvals[3000];

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

int main(void) {
  attrcache_callbacks c = {.size = sizeof c,
                           .copy_fn = (attrcache_callback*)copy_it,
                           .delete_fn = (attrcache_callback*)delete_it,
                           .extra_state = (void*)0x77};
  attrcache_kind_options session = {sizeof session, ATTRCACHE_HANDLE_POINTER, "session", NULL};
  int first, freed;
  attrcache_domain_create(NULL, &domain);
  attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &communicators);
  attrcache_kind_register(domain, &session, &sessions);

  attrcache_keyval_create(sessions, &c, &first);
  attrcache_keyval_define(sessions, &lastusedcode);
  c.language = ATTRCACHE_FORTRAN_AINT;
  attrcache_keyval_create(sessions, &c, &freed);
  attrcache_set_as(sessions, &near_table, NULL, freed, 9, ATTRCACHE_AS_AINT, NULL);
  attrcache_set(sessions, &near_table, NULL, first, (void*)0x1234, NULL);
  attrcache_keyval_free(sessions, &freed);
  attrcache_borrow(sessions, &near_table, first, &borrowed);

  for (int i = 0; i < 3000; ++i) attrcache_keyval_create(communicators, NULL, &keyvals[i]);
  attrcache_set(communicators, &far_table, NULL, keyvals[2999], (void*)0xfa4, NULL);
  attrcache_set(communicators, &far_table, NULL, keyvals[40], (void*)0x1eaf, NULL);
  stop_here();
  return 0;
}
