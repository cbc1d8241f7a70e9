// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "attrcache/attrcache.h"

const char* attrcache_strerror(int result) noexcept {
  static constexpr struct {
    int result;
    const char* text;
  } kTexts[] = {
      {ATTRCACHE_OK, "success"},
      {ATTRCACHE_ABSENT, "no attribute is attached under this keyval"},
      {ATTRCACHE_PRESENT, "a value is attached under this keyval already"},
      {ATTRCACHE_ERR_NULL, "a null pointer was given where a value is required"},
      {ATTRCACHE_ERR_ARGUMENT,
       "an argument is out of range (an enum, a flag, a size; or a table that is not aligned)"},
      {ATTRCACHE_ERR_KEYVAL_INVALID, "the keyval is the invalid one"},
      {ATTRCACHE_ERR_KEYVAL_UNKNOWN, "no such keyval was ever created"},
      {ATTRCACHE_ERR_KEYVAL_STALE, "the keyval was freed and is gone"},
      {ATTRCACHE_ERR_KEYVAL_KIND, "the keyval belongs to another kind of object"},
      {ATTRCACHE_ERR_KEYVAL_PREDEFINED,
       "the keyval is predefined: users can't set, delete or free it"},
      {ATTRCACHE_ERR_CALLBACK, "a callback failed"},
      {ATTRCACHE_ERR_REATTACHED,
       "callbacks went on attaching attributes to what was being deleted"},
      {ATTRCACHE_ERR_BUSY, "the table, domain or keyval is still in use"},
      {ATTRCACHE_ERR_FREED, "a callback has freed the object, or the keyval was freed"},
      {ATTRCACHE_ERR_EXISTS, "a predefined keyval has this number already"},
      {ATTRCACHE_ERR_THREAD, "another thread has borrowed this value"},
      {ATTRCACHE_ERR_MOVED, "the table was copied or moved while it owned memory"},
      {ATTRCACHE_ERR_MEMORY, "out of memory"},
      {ATTRCACHE_ERR_KEYVALS_EXHAUSTED, "all keyvals of this kind are in use"},
      {ATTRCACHE_ERR_KINDS_EXHAUSTED, "all kinds of this domain are in use"},
      {ATTRCACHE_ERR_UNSUPPORTED,
       "this processor (see attrcache_platform) or version of the library can't do that"},
  };
  for (const auto& known : kTexts) {
    if (known.result == result) return known.text;
  }
  return "not a result of attrcache";
}
