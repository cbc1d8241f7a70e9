/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Says whether the library works on this processor, and by which steps. */

#include <attrcache/attrcache.h>
#include <stdio.h>

int main(void) {
  attrcache_domain* domain = NULL;
  const int result = attrcache_domain_create(NULL, &domain);
  printf("%s domain, %s: %s\n", domain == NULL ? "no" : "a", attrcache_strerror(result),
         attrcache_platform());
  return 0;
}
