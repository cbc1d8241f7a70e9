/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * In C11, attrcache_get_at_once gives the results and values of attrcache_get, for every kind of
 * attribute, absence and error, in near and far slots, or else says to call attrcache_get.
 */

#include <stdio.h>

#include "attrcache/attrcache_inline.h"

static int failures;
#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

static int asked;
static int compare(const attrcache_kind* kind, const attrcache_table* table, int keyval) {
  static char untouched;
  void* by_call = &untouched;
  void* in_line = &untouched;
  const int result = attrcache_get(kind, table, keyval, &by_call);
  const int at_once = attrcache_get_at_once(kind, table, ATTRCACHE_KEYVAL_MIN, keyval, &in_line);
  if (at_once == ATTRCACHE_INLINE_ASK) {
    CHECK(in_line == &untouched);
    ++asked;
  } else {
    CHECK(at_once == result && at_once >= ATTRCACHE_OK && in_line == by_call);
  }
  return result;
}

enum { kMany = 200 };

int main(void) {
  static attrcache_table table, empty;
  static int keyvals[kMany];
  attrcache_domain* domain;
  CHECK(attrcache_domain_create(NULL, &domain) == ATTRCACHE_OK);
  attrcache_kind* kind;
  attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &kind);
  attrcache_kind* other;
  attrcache_kind_of(domain, ATTRCACHE_WINDOW, &other);
  const attrcache_tag tags[] = {ATTRCACHE_AS_POINTER, ATTRCACHE_AS_FINT, ATTRCACHE_AS_AINT,
                                ATTRCACHE_AS_INT};
  for (int i = 0; i < kMany; ++i)
    CHECK(attrcache_keyval_create(kind, NULL, &keyvals[i]) == ATTRCACHE_OK);
  for (int i = 0; i < kMany; i += 2) {
    CHECK(attrcache_set_as(kind, &table, NULL, keyvals[i], 1000 + i, tags[i / 2 % 4], NULL) ==
          ATTRCACHE_OK);
  }
  for (int i = 0; i < kMany; ++i) {
    CHECK(compare(kind, &table, keyvals[i]) == (i % 2 == 0 ? ATTRCACHE_OK : ATTRCACHE_ABSENT));
    CHECK(compare(kind, &empty, keyvals[i]) == ATTRCACHE_ABSENT);
    CHECK(compare(other, &empty, keyvals[i]) == ATTRCACHE_ERR_KEYVAL_KIND);
  }
#ifndef ATTRCACHE_INLINE_STEPS
  /* A kind's first 64 keyvals need the call for errors only. */
  CHECK(asked == 3 * (kMany - 64) + 64);
#endif
  const int wrong[] = {ATTRCACHE_KEYVAL_INVALID, 1, -1, 0x7fffffff, ATTRCACHE_KEYVAL_MAX,
                       ATTRCACHE_KEYVAL_MIN + 7};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); ++i)
    CHECK(compare(kind, &table, wrong[i]) < ATTRCACHE_OK);
  void* value = NULL;
  CHECK(attrcache_get_at_once(NULL, &empty, ATTRCACHE_KEYVAL_MIN, keyvals[0], &value) ==
        ATTRCACHE_INLINE_ASK);
  CHECK(attrcache_get_at_once(kind, NULL, ATTRCACHE_KEYVAL_MIN, keyvals[0], &value) ==
        ATTRCACHE_INLINE_ASK);
  int stale = keyvals[1];
  CHECK(attrcache_keyval_free(kind, &keyvals[1]) == ATTRCACHE_OK);
  CHECK(compare(kind, &table, stale) == ATTRCACHE_ERR_KEYVAL_STALE);

  CHECK(attrcache_delete_all(kind, &table, NULL, ATTRCACHE_STOP_AT_FAILURE, NULL) == ATTRCACHE_OK);
  CHECK(compare(kind, &table, keyvals[0]) == ATTRCACHE_ABSENT);
  CHECK(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, NULL) == ATTRCACHE_OK);
  return failures != 0;
}
