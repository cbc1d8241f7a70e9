// SPDX-License-Identifier: Apache-2.0
//
// The fork policy of lib/attrcache/README.md: the child goes on where the parent was.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attrcache/attrcache.h"

namespace {

// What the child finds, as an exit code: 0 if all is well, else the number of the check.
int child(attrcache_kind* kind, attrcache_table* table, int keyval) {
  void* value = nullptr;
  if (attrcache_get(kind, table, keyval, &value) != ATTRCACHE_OK) return 1;
  if (value != reinterpret_cast<void*>(5)) return 2;
  if (attrcache_set(kind, table, nullptr, keyval, 6, ATTRCACHE_AS_POINTER, nullptr)) return 3;
  int other = 0;
  if (attrcache_keyval_create(kind, nullptr, &other) != ATTRCACHE_OK || other == keyval) return 4;
  if (attrcache_set(kind, table, nullptr, other, 7, ATTRCACHE_AS_POINTER, nullptr)) return 5;
  if (attrcache_delete(kind, table, nullptr, keyval, nullptr) != ATTRCACHE_OK) return 6;
  if (attrcache_get(kind, table, keyval, &value) != ATTRCACHE_ABSENT) return 7;
  if (attrcache_keyval_free(kind, &other) != ATTRCACHE_OK) return 8;
  if (attrcache_delete_all(kind, table, nullptr, ATTRCACHE_DRAIN, nullptr)) return 9;
  return 0;
}

TEST(ForkTest, TheChildGoesOnAndTheParentDoesNotNotice) {
  attrcache_domain* domain;
  ASSERT_EQ(attrcache_domain_create(nullptr, &domain), ATTRCACHE_OK);
  attrcache_kind* kind = attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR);
  attrcache_table table = {};
  int keyval;
  ASSERT_EQ(attrcache_keyval_create(kind, nullptr, &keyval), ATTRCACHE_OK);
  ASSERT_EQ(attrcache_set(kind, &table, nullptr, keyval, 5, ATTRCACHE_AS_POINTER, nullptr),
            ATTRCACHE_OK);

  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) _exit(child(kind, &table, keyval));
  int status = -1;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);

  void* value = nullptr;
  EXPECT_EQ(attrcache_get(kind, &table, keyval, &value), ATTRCACHE_OK);
  EXPECT_EQ(value, reinterpret_cast<void*>(5));
  EXPECT_EQ(attrcache_delete_all(kind, &table, nullptr, ATTRCACHE_DRAIN, nullptr), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_keyval_free(kind, &keyval), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, nullptr), ATTRCACHE_OK);
}

}  // namespace
