// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/serving/free.h"

#include "callback/frame.h"
#include "mpi/native/errors.h"
#include "mpi/native/kinds.h"
#include "platform/memory.h"
#include "platform/wait.h"
#include "table/attribute.h"
#include "table/dup_free_fast.h"

namespace attrcache::mpi {
namespace {

// Calls attrcache_delete_all again and again until no other thread is in the middle of deleting one
// of the attributes. Reports a callback's failure even if it came in an earlier one of these calls.
int delete_all(attrcache_kind* kind, attrcache_table* table, void* object,
               attrcache_delete_mode mode, int* code) {
  Backoff backoff;
  for (;;) {
    const int result = attrcache_delete_all(kind, table, object, mode, code);
    if (result == ATTRCACHE_OK && *code != 0) return ATTRCACHE_ERR_CALLBACK;
    if (result != ATTRCACHE_ERR_BUSY) return result;
    backoff.relax();
  }
}

// The attributes that are attached at one moment, in the order in which they were set. The list is
// empty when out of memory.
class Attributes {
 public:
  Attributes(attrcache_kind* kind, const attrcache_table* table) {
    size_t there = kFew;
    attrcache_attribute_list(kind, table, few_, kFew, &there);
    if (there > kFew) {
      const size_t capacity = there;
      many_ = static_cast<attrcache_attribute_info*>(
          kProcessMemory.allocate_zeroed(capacity * sizeof *many_));
      out_of_memory_ = many_ == nullptr;
      if (out_of_memory_) return;
      attrcache_attribute_list(kind, table, many_, capacity, &there);
      if (there > capacity) there = capacity;
    }
    count_ = there;
  }
  ~Attributes() { kProcessMemory.release(many_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  size_t count() const { return count_; }
  bool out_of_memory() const { return out_of_memory_; }
  int keyval(size_t i) const { return (many_ != nullptr ? many_ : few_)[i].keyval; }

 private:
  static constexpr size_t kFew = 16;
  attrcache_attribute_info few_[kFew];
  attrcache_attribute_info* many_ = nullptr;
  size_t count_ = 0;
  bool out_of_memory_ = false;
};

// Deletes the attributes one by one, the youngest first, and calls each(result, code of its
// callback). False: a callback has freed the object, so its table is gone and must not be used.
template <typename Each>
bool delete_each(attrcache_kind* kind, attrcache_table* table, void* object, OnFailure on_failure,
                 Each each) {
  const Target target = {Registry::of(kind), Table::of(table), object};
  const Attributes attributes(kind, table);
  if (attributes.out_of_memory()) each(ATTRCACHE_ERR_MEMORY, 0);
  TableScope scope(target.registry.threads().self(),
                   &target.table);  // a callback may free the object itself
  for (size_t i = attributes.count(); i-- > 0 && !scope.table_died();) {
    int code = 0;
    const int result = delete_attribute(target, inner(attributes.keyval(i)), on_failure, &code);
    each(result, code);
  }
  return !scope.table_died();
}

}  // namespace

Freed free_attributes(attrcache_kind* kind, attrcache_table* table, void* object, FreeMode mode) {
  int code = 0;
  if (mode == FreeMode::kLastCode || mode == FreeMode::kAnyCode) {
    if (delete_attributes_fast(Registry::of(kind), Table::of(table))) {
      return {0, false, false};  // there was no callback to run
    }
    int last = 0;  // the code of the last callback, or of the last one that failed
    const auto keep = [&last, mode](int result, int told) {
      if (result == ATTRCACHE_ABSENT) return;  // a callback has deleted it meanwhile
      if (told != 0) told = error_code(ATTRCACHE_ERR_CALLBACK, told);
      if (told != 0 || mode == FreeMode::kLastCode) last = told;
    };
    if (!delete_each(kind, table, object, OnFailure::kDetach, keep)) return {last, false, false};
    // This deletes what the callbacks have attached meanwhile, and frees the table's memory.
    const int result = delete_all(kind, table, object, ATTRCACHE_DRAIN, &code);
    const bool leaked = result != ATTRCACHE_OK && result != ATTRCACHE_ERR_CALLBACK;
    if (last != 0 || result == ATTRCACHE_ERR_REATTACHED) return {last, false, leaked};
    return {result == ATTRCACHE_OK ? 0 : error_code(result, code), false, leaked};
  }
  const bool stops = mode == FreeMode::kStop;
  const int result =
      delete_all(kind, table, object, stops ? ATTRCACHE_STOP_AT_FAILURE : ATTRCACHE_DRAIN, &code);
  if (result == ATTRCACHE_OK) return {0, false, false};
  if (result == ATTRCACHE_ERR_REATTACHED) return {0, false, true};  // the last stays, as natively
  const bool attached = stops || result != ATTRCACHE_ERR_CALLBACK;
  return {stops ? error_code(result, code) : 0, stops, attached && !stops};
}

int delete_attributes_in_use(attrcache_kind* kind, attrcache_table* table, void* object) {
  int first = MPI_SUCCESS;
  delete_each(kind, table, object, OnFailure::kKeep, [&first](int result, int code) {
    if (result < ATTRCACHE_OK && first == MPI_SUCCESS) first = error_code(result, code);
  });
  return first;
}

}  // namespace attrcache::mpi
