// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "keyval/registry.h"

#include "platform/memory.h"

namespace attrcache {

using namespace entry_word;

Registry::Registry(unsigned kind, const attrcache_kind_options& options, unsigned stripes,
                   Epoch& epoch, Readers& readers, const DomainSettings& settings)
    : Entries(stripes),
      kind_(kind),
      name_(options.name),
      settings_(settings),
      epoch_(epoch),
      readers_(readers),
      first_cells_(readers.first_cells()),
      definitions_(settings_.memory) {
  settings_.convention.handle = options.handle;
  settings_.convention.fortran_handle = options.fortran_handle;
}

Registry::~Registry() {
  // Keyvals that still exist may have records from the heap. All other records were reclaimed.
  for_each_entry([this](Entry& entry, const References&) {
    Record* const record = entry.record.load(kRelaxed);
    if (entry_word::exists(entry.word.load(kRelaxed)) && record != &entry.own)
      memory().destroy(record);
  });
  release(memory());
}

Record* Registry::make_record() const {
  auto* record = settings_.memory.make<Record>();
  if (record == nullptr) return nullptr;
  record->reclaim = &Registry::release_record;
  return record;
}

void Registry::release_record(Retired* retired, const Memory& memory) {
  memory.destroy(static_cast<Record*>(retired));
}

// Ends a keyval that is freed and has no references any more. The loads may be relaxed: R5 or R7
// (K1, if it never had any) has ordered all that was done before, and nobody else writes these
// members meanwhile, except that a free which comes too late may set its bit.
[[gnu::always_inline]] inline int Registry::end(Entry& entry, id::Offset offset) {
  const uint64_t generations = entry.word.load(kRelaxed) >> kGenerationsShift;
  // (K8) From here on the keyval is stale. Release: a thread that sees that sees all its attributes
  // deleted.
  entry.word.store(as_taken(generations << kGenerationsShift, offset), kRelease);
  Record& record = *entry.record.load(kRelaxed);
  if (record.callbacks.destructor != nullptr) [[unlikely]]
    run_destructor(record.callbacks, convention());
  // Retired before the index is free, because create() asks whether the entry's own record waits.
  epoch_.retire(&record);
  put_back(entry);
  return ATTRCACHE_OK;
}

// Opens the thread's stripe, and returns its name. The caller holds a reference.
stripe::Name Registry::open_stripe(id::Keyval keyval, unsigned ordinal) {
  const id::Offset offset = id::offset(keyval);
  // Relaxed: only the word itself is looked at. It is that of the keyval, which the caller has seen
  // (K1) and holds a reference on, and its flags don't change once somebody does.
  const uint64_t word = at(offset).word.load(kRelaxed);
  references(offset).open(ordinal, keyval, flags(word));
  return stripe::name(keyval, flags(word));
}

stripe::Name Registry::acquire(id::Keyval keyval) {
  if (look_up(keyval) == 0) return stripe::Name::kNone;
  if (!references(id::offset(keyval)).acquire_exact(keyval)) return stripe::Name::kNone;
  return open_stripe(keyval, thread_ordinal());
}

bool Registry::drop(id::Keyval keyval) {
  const unsigned ordinal = thread_ordinal();
  if (References::drop_open(stripe_of(keyval, ordinal))) return false;
  const id::Offset offset = id::offset(keyval);
  open_stripe(keyval, ordinal);  // for the next time; now, while the reference is held
  if (!references(offset).drop_exact()) return false;
  end(at(offset), offset);
  return true;
}

namespace {

[[gnu::always_inline]] inline uint32_t flags_of(const attrcache_callbacks& callbacks) {
  uint32_t flags = stripe::kNotDupFn;
  if (callbacks.copy_fn == ATTRCACHE_NULL_COPY_FN) flags |= stripe::kNullCopyFn;
  if (callbacks.copy_fn == ATTRCACHE_DUP_FN) flags = 0;
  const bool deletes = callbacks.delete_fn != ATTRCACHE_NULL_DELETE_FN;
  return flags | (deletes ? stripe::kUnheld | stripe::kFull : stripe::kNoDeleteFn);
}

}  // namespace

// Accesses without a comment are relaxed because the entry belongs to this thread alone, from Q2 to
// K2.
int Registry::create(const attrcache_callbacks& callbacks, int* keyval) noexcept {
  id::Offset offset;
  int error = ATTRCACHE_OK;
  Entry* const entry = take(memory(), &offset, &error);
  if (entry == nullptr) return error;
  Record* record = &entry->own;
  if (record->waits()) [[unlikely]] {
    record = make_record();
    if (record == nullptr) {
      put_back(*entry);
      return ATTRCACHE_ERR_MEMORY;
    }
  }
  record->callbacks = callbacks;
  const auto generations = static_cast<uint32_t>(entry->word.load(kRelaxed) >> kGenerationsShift);
  const id::Keyval made = id::make(kind_, generations % id::kGenerations, id::index(offset));
  const uint32_t flags = flags_of(callbacks);
  uint64_t word = id::bits(made) | uint64_t{one_generation_more(generations)} << kGenerationsShift;
  word |= uint64_t{flags} << kFlagsShift;
  // (K10) pairs with V1: a thread that sees this keyval counted sees that the one before it is gone
  // (K8).
  entry->uses.store(entry->uses.load(kRelaxed) + 1, kRelease);
  entry->record.store(record, kRelease);  // (K9) pairs with V3, which then sees K10, too
  References::reset(entry->exact, made);
  entry->word.store(word, kRelease);  // (K2) publishes record and references; pairs with K1
  *keyval = number_of(made);
  return ATTRCACHE_OK;
}

int Registry::free(int* variable) noexcept {
  const id::Keyval keyval = keyval_of(*variable);
  const id::Offset offset = id::offset(keyval);
  const uintptr_t chunk = chunk_at(offset);
  if (chunk == 0) [[unlikely]]
    return why_not(keyval);
  Entry* const entry = entry_at(chunk, offset);
  uint64_t word = entry->word.load(kAcquire);  // (K1) pairs with K2
  // 0 is not a keyval, but it is the word of an entry that was never used.
  if (entry_word::keyval(word) != keyval || word == 0) [[unlikely]]
    return why_not(keyval);
  *variable = settings_.invalid;  // before the destructor runs, which may free the variable
  if (References::end_unused(entry->exact, keyval)) [[likely]]
    return end(*entry, offset);
  return free_slowly(keyval, *entry);
}

// Frees a keyval that is or was in use, or that another thread frees.
int Registry::free_slowly(id::Keyval keyval, Entry& entry) {
  // Relaxed, here and in the exchange: free() has acquired K2, whose release sequence the exchange
  // continues; and no other data depend on the bit: operations that must know that the keyval is
  // freed find its stripes closed (R7). Only the thread that sets the bit closes them.
  uint64_t word = entry.word.load(kRelaxed);
  do {
    // Another thread has freed the keyval first. Whether it is still in use or gone by now, it is
    // freed, which is what the caller wants.
    if (entry_word::keyval(word) != keyval || (word & kFreed) != 0)
      return result_for_user(ATTRCACHE_ABSENT);
  } while (!entry.word.compare_exchange_weak(word, word | kFreed, kRelaxed, kRelaxed));
  const id::Offset offset = id::offset(keyval);
  const References::Closed closed = references(offset).close(keyval);
  if (closed == References::Closed::kInUse) return ATTRCACHE_OK;
  if (closed == References::Closed::kEnded) return end(entry, offset);
  return result_for_user(ATTRCACHE_ABSENT);  // as above
}

int Registry::set_callbacks(id::Keyval keyval, const attrcache_callbacks& callbacks) {
  const uint64_t word = look_up(keyval);
  if (word == 0) return why_not(keyval);
  const id::Offset offset = id::offset(keyval);
  if ((word & kFreed) != 0) return ATTRCACHE_ERR_FREED;
  if (!references(offset).unused(keyval)) return ATTRCACHE_ERR_BUSY;
  Record* const record = make_record();
  if (record == nullptr) return ATTRCACHE_ERR_MEMORY;
  record->callbacks = callbacks;
  Entry& entry = at(offset);
  Record* const old = entry.record.load(kRelaxed);  // stored by this very thread
  entry.record.store(record, kRelease);             // (K9) pairs with V3
  const uint64_t changed = (word & ~(uint64_t{stripe::kFlags} << kFlagsShift)) |
                           uint64_t{flags_of(callbacks)} << kFlagsShift;
  entry.word.store(changed, kRelease);  // (K2) pairs with K1
  epoch_.retire(old);                   // introspection may still look at it
  return ATTRCACHE_OK;
}

void Registry::count(attrcache_counters* counters) const {
  uint64_t created = 0, existing = 0, freed_and_existing = 0, references_in_all = 0;
  for_each_entry([&](const Entry& entry, const References& references) {
    // (K1) pairs with K2: the keyval in the word is counted in `uses`, too.
    const uint64_t word = entry.word.load(kAcquire);
    created += entry.uses.load(kRelaxed);
    if (!entry_word::exists(word)) return;
    ++existing;
    freed_and_existing += (word & kFreed) != 0;
    references_in_all += references.count();
  });
  counters->keyvals_created += created;
  counters->keyvals_freed += created - existing + freed_and_existing;
  counters->keyvals_gone += created - existing;
  counters->attributes += references_in_all;
}

bool Registry::free_unused() {
  bool any = false;
  for_each_entry([&](const Entry& entry, const References& references) {
    const uint64_t word = entry.word.load(kAcquire);  // (K1) pairs with K2
    int number = number_of(entry_word::keyval(word));
    if (entry_word::exists(word) && references.count() == 0) any |= free(&number) == ATTRCACHE_OK;
  });
  return any;
}

// For a number outside the domain's own range.
int Registry::check_number(int number) const {
  if (number == settings_.invalid) return ATTRCACHE_ERR_KEYVAL_INVALID;
  if (definitions_.find(number) != nullptr) return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
  for (unsigned k = 0; settings_.kinds != nullptr && k < id::kMaxKinds; ++k) {
    const Registry* const other = settings_.kinds[k].load(kAcquire);  // (D1) pairs with D2
    if (other != nullptr && other != this && other->definitions().find(number) != nullptr) {
      return ATTRCACHE_ERR_KEYVAL_KIND;
    }
  }
  return ATTRCACHE_ERR_KEYVAL_UNKNOWN;
}

int Registry::check(id::Keyval keyval) const {
  if (!id::well_formed(keyval)) return check_number(number_of(keyval));
  if (!is_kind_of(keyval)) {
    // Only kinds that exist have keyvals.
    const bool exists = settings_.kinds == nullptr ||
                        settings_.kinds[id::kind(keyval)].load(kAcquire) != nullptr;  // (D1)
    return exists ? ATTRCACHE_ERR_KEYVAL_KIND : ATTRCACHE_ERR_KEYVAL_UNKNOWN;
  }
  const uint64_t word = word_at(id::offset(keyval));
  if (entry_word::keyval(word) == keyval) return ATTRCACHE_OK;
  const bool handed_out = id::generation(keyval) < word >> kGenerationsShift;
  return handed_out ? ATTRCACHE_ERR_KEYVAL_STALE : ATTRCACHE_ERR_KEYVAL_UNKNOWN;
}

}  // namespace attrcache
