// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The keyvals of one kind of a domain.
//
// Life of a keyval (the word of its entry):
//
//   free --create--> live --keyval_free--> freed, in use --last attribute deleted--> gone --> free
//                     \_____________________ (no attribute) ______________________/
//
// References decides, once, when a keyval is gone. It tells the thread that has freed the keyval or
// dropped its last reference. That thread clears the word, runs the destructor, retires the record
// and frees the index. Only the record waits until the threads that are within introspection have
// left; the index may be used again at once.
//
// All operations are lock-free, except for the allocator and the destructors.

#ifndef ATTRCACHE_KEYVAL_REGISTRY_H_
#define ATTRCACHE_KEYVAL_REGISTRY_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "callback/executor.h"
#include "keyval/definitions.h"
#include "keyval/entries.h"
#include "keyval/id.h"
#include "keyval/references.h"
#include "platform/atomic.h"
#include "platform/memory.h"
#include "platform/thread.h"
#include "readers/readers.h"

namespace attrcache {

// The options of a domain that concern all its kinds.
//
// Internally all keyvals are in one range, that of id.h. The ints that users see, their numbers,
// are these XOR `mask`, which is 0 unless the domain has a range of its own. The C API translates
// where an int comes in or goes out, callbacks and introspection included.
struct DomainSettings {
  uint32_t mask = 0;
  int invalid = ATTRCACHE_KEYVAL_INVALID;
  bool tells_absence = false;  // ATTRCACHE_TELL
  bool full_fences = false;    // ATTRCACHE_FULL_FENCES
  CallingConvention convention;
  Memory memory;
  const Atomic<class Registry*>* kinds = nullptr;  // all of the domain, id::kMaxKinds of them
};

class Registry : public Entries {
 public:
  Registry(unsigned kind, const attrcache_kind_options& options, unsigned stripes, Epoch& epoch,
           Readers& readers, const DomainSettings& settings = {});
  // Releases all memory. Nobody may use the registry any more, nor have its epoch pinned.
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // A registry is what users have as an attrcache_kind.
  static Registry& of(attrcache_kind* kind) { return *reinterpret_cast<Registry*>(kind); }
  static const Registry& of(const attrcache_kind* kind) {
    return *reinterpret_cast<const Registry*>(kind);
  }
  attrcache_kind* as_kind() { return reinterpret_cast<attrcache_kind*>(this); }

  // Makes a keyval.
  int create(const attrcache_callbacks& callbacks, int* keyval) noexcept;

  // Frees the keyval, and sets the variable to the domain's invalid value. If it was freed before,
  // and is still in use, returns ABSENT in a domain with ATTRCACHE_TELL.
  int free(int* keyval) noexcept;

  // Replaces the callbacks of a keyval that nobody has used yet and only the caller knows.
  int set_callbacks(id::Keyval keyval, const attrcache_callbacks& callbacks);

  // Translate between the ints that users see and keyvals as they are inside.
  id::Keyval keyval_of(int number) const {
    return id::Keyval{static_cast<uint32_t>(number) ^ settings_.mask};
  }
  int number_of(id::Keyval keyval) const {
    return static_cast<int>(id::bits(keyval) ^ settings_.mask);
  }

  // The predefined keyvals.
  const Definitions& definitions() const { return definitions_; }
  Definitions& definitions() { return definitions_; }

  // Frees all keyvals that have no attribute, and thereby runs their destructors, because the
  // domain ends. True if there was one.
  bool free_unused();

  // ATTRCACHE_OK if the keyval exists and is of this kind, else the error that says why not. For
  // the number of a predefined one, this is KEYVAL_PREDEFINED. Wait-free.
  int check(id::Keyval keyval) const;

  // The error that says why look_up has found nothing. Wait-free.
  int why_not(id::Keyval keyval) const {
    const int error = check(keyval);
    // OK means that the keyval was gone when look_up looked, and that its number has been handed
    // out again since.
    return error != ATTRCACHE_OK ? error : ATTRCACHE_ERR_KEYVAL_STALE;
  }

  // The word of the keyval's entry if the keyval exists, else 0. Wait-free.
  uint64_t look_up(id::Keyval keyval) const {
    const uint64_t word = word_at(id::offset(keyval));
    return entry_word::keyval(word) == keyval ? word : 0;
  }

  // Takes a reference on a keyval, and returns the name of its stripes; kNone: there is no such
  // keyval. Opens the thread's stripe, for the next time.
  [[gnu::noinline]] stripe::Name acquire(id::Keyval keyval);

  // Drops a reference. If it is the last one on a freed keyval, this ends the keyval and runs its
  // destructor, which may free the object, and returns true. Not inlined: within a callback a
  // user-level thread may have moved to another thread of the operating system, so the address of
  // thread-local variables must be computed anew.
  [[gnu::noinline]] bool drop(id::Keyval keyval);
  // The same in the stripe of the thread with that ordinal. Any thread's will do, so one that was
  // looked up before a callback may be given.
  [[gnu::always_inline]] void drop_in_stripe(id::Keyval keyval, unsigned ordinal) {
    if (!References::drop_open(stripe_of(keyval, ordinal))) [[unlikely]]
      drop(keyval);
  }

  // The callbacks of a keyval on which the caller holds a reference.
  attrcache_callbacks& callbacks(id::Keyval keyval) const {
    // Relaxed: the record was stored before the first reference could be taken (K9 before R6 and
    // K2), and it isn't stored again as long as there are references.
    return at(id::offset(keyval)).record.load(kRelaxed)->callbacks;
  }

  // Calls visit(word, Record&, references) with the epoch pinned. False: there is no such keyval.
  template <typename Visit>
  bool visit(id::Keyval keyval, Visit visit);

  bool is_kind_of(id::Keyval keyval) const { return id::kind(keyval) == kind_; }
  const char* name() const { return name_; }  // for debuggers (tools/gdb)
  const Threads& threads() const { return readers_.threads(); }
  Readers& readers() const { return readers_; }
  // The `first` of Readers::near_record().
  Announcement& first_cell() const { return Readers::mine_of(first_cells_); }
  const DomainSettings& settings() const { return settings_; }
  const Memory& memory() const { return settings_.memory; }

  // What a delete or free returns to the user: ABSENT only in a domain with ATTRCACHE_TELL.
  int result_for_user(int result) const {
    if (result == ATTRCACHE_ABSENT && !settings_.tells_absence) [[unlikely]]
      return ATTRCACHE_OK;
    return result;
  }
  const CallingConvention& convention() const { return settings_.convention; }

  // Adds how many keyvals there ever were, and how many references there are. The numbers are
  // approximate while others change them.
  void count(attrcache_counters* counters) const;

 private:
  // There is such a counter, since there is such a reference.
  [[gnu::always_inline]] References::Counter& stripe_of(id::Keyval keyval, unsigned ordinal) const {
    return *counters(id::offset(keyval), ordinal);
  }
  int check_number(int number) const;
  [[gnu::noinline, gnu::cold]] Record* make_record() const;
  static void release_record(Retired* retired, const Memory& memory);
  int end(Entry& entry, id::Offset offset);
  [[gnu::noinline]] int free_slowly(id::Keyval keyval, Entry& entry);
  stripe::Name open_stripe(id::Keyval keyval, unsigned ordinal);

  const unsigned kind_;
  const char* const name_;
  DomainSettings settings_;  // with the kind's own convention
  Epoch& epoch_;
  Readers& readers_;
  Announcement* const first_cells_;
  Definitions definitions_;
};

// `visit` gets a word and a record that belong to the same keyval, although that keyval may end,
// and others may follow it on the same index, between any two of these reads:
//   V1 reads that n keyvals of this index were begun. By K10 the end of keyval n-1 is seen, so a
//      living keyval's word, if V2 reads one, is of keyval n or of a later one.
//   V2 reads the word. By K2, all is seen that this keyval's create() stored before the word.
//   V3 reads the record, which therefore is of the same keyval or of a later one. By K9, the number
//      that was stored before the record is seen.
//   V4 reads the number again. If it is still n, the record is of no later keyval than n, so that
//      word and record are both of keyval n. If not, the keyval has ended meanwhile.
// The record stays as it is until the epoch is unpinned. For if the thread that ended the keyval
// had found nobody pinned (E2), we would have pinned after that, and by E1 we would see the end of
// the keyval (K8), so that V2 couldn't have read its word.
template <typename Visit>
bool Registry::visit(id::Keyval keyval, Visit visit) {
  if (look_up(keyval) == 0) return false;
  const Epoch::Guard pin(epoch_);
  const id::Offset offset = id::offset(keyval);
  const Entry& entry = at(offset);
  const uint64_t uses = entry.uses.load(kAcquire);  // (V1) pairs with K10
  const uint64_t word = entry.word.load(kAcquire);  // (V2) pairs with K2
  if (entry_word::keyval(word) != keyval) return false;
  Record& record = *entry.record.load(kAcquire);        // (V3) pairs with K9
  if (entry.uses.load(kRelaxed) != uses) return false;  // (V4)
  visit(word, record, references(offset));
  return true;
}

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_REGISTRY_H_
