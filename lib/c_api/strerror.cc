// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "attrcache/attrcache.h"

const char* attrcache_strerror(int result) noexcept {
  switch (result) {
    case ATTRCACHE_OK:
      return "success";
    case ATTRCACHE_ABSENT:
      return "no attribute is attached under this keyval";
    case ATTRCACHE_PRESENT:
      return "a value is attached under this keyval already";
    case ATTRCACHE_ERR_NULL:
      return "a null pointer was given where a value is required";
    case ATTRCACHE_ERR_ARGUMENT:
      return "an argument is out of range (an enum, a flag, a size; or a table that is not "
             "aligned)";
    case ATTRCACHE_ERR_KEYVAL_INVALID:
      return "the keyval is the invalid one";
    case ATTRCACHE_ERR_KEYVAL_UNKNOWN:
      return "no such keyval was ever created";
    case ATTRCACHE_ERR_KEYVAL_STALE:
      return "the keyval was freed and is gone";
    case ATTRCACHE_ERR_KEYVAL_KIND:
      return "the keyval belongs to another kind of object";
    case ATTRCACHE_ERR_KEYVAL_PREDEFINED:
      return "the keyval is predefined: users can't set, delete or free it";
    case ATTRCACHE_ERR_CALLBACK:
      return "a callback failed";
    case ATTRCACHE_ERR_REATTACHED:
      return "callbacks went on attaching attributes to what was being deleted";
    case ATTRCACHE_ERR_BUSY:
      return "the table, domain or keyval is still in use";
    case ATTRCACHE_ERR_FREED:
      return "a callback has freed the object, or the keyval was freed";
    case ATTRCACHE_ERR_EXISTS:
      return "a predefined keyval has this number already";
    case ATTRCACHE_ERR_THREAD:
      return "another thread has borrowed this value";
    case ATTRCACHE_ERR_MOVED:
      return "the table was copied or moved while it owned memory";
    case ATTRCACHE_ERR_MEMORY:
      return "out of memory";
    case ATTRCACHE_ERR_KEYVALS_EXHAUSTED:
      return "all keyvals of this kind are in use";
    case ATTRCACHE_ERR_KINDS_EXHAUSTED:
      return "all kinds of this domain are in use";
    case ATTRCACHE_ERR_UNSUPPORTED:
      return "this processor (see attrcache_platform) or version of the library can't do that";
    default:
      return "not a result of attrcache";
  }
}
