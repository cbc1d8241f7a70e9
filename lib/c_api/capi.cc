// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The functions of attrcache.h, except for get, set and delete (one_attribute.cc), and for those
// that act on all attributes of an object (all_attributes.cc). They check their arguments and call
// the layers below.

#include "attrcache/attrcache.h"
#include "callback/language.h"
#include "domain/domain.h"
#include "platform/pair.h"
#include "table/hand_off.h"
#include "table/hold.h"
#include "table/inspect.h"

namespace {

using attrcache::Domain;
using attrcache::Registry;
using attrcache::Table;

// Reads a struct as this library knows it. If a caller with a newer attrcache.h has filled members
// that are unknown here, the call fails (UNSUPPORTED).
template <typename Struct>
int read_filled(const Struct* given, Struct* known) {
  *known = {};
  if (given == nullptr) return ATTRCACHE_OK;
  if (!attrcache::can_be_size<Struct>(given->size)) return ATTRCACHE_ERR_ARGUMENT;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof(Struct); i < given->size; ++i) {
    if (bytes[i] != 0) return ATTRCACHE_ERR_UNSUPPORTED;
  }
  *known = *given;
  known->size = sizeof(Struct);
  return ATTRCACHE_OK;
}

bool are_right(const attrcache_callbacks& callbacks) {
  return (callbacks.flags & ~unsigned{ATTRCACHE_DELETE_ONCE}) == 0 &&
         static_cast<unsigned>(callbacks.language) <= ATTRCACHE_RAW &&
         callbacks.delete_fn != ATTRCACHE_DUP_FN;
}

// Whether callbacks are C's, without flags, in the struct as this library knows it.
bool are_usual(const attrcache_callbacks& callbacks) {
  static_assert(ATTRCACHE_C == 0);
  return callbacks.size == sizeof callbacks &&
         (callbacks.flags | static_cast<unsigned>(callbacks.language)) == 0 &&
         callbacks.delete_fn != ATTRCACHE_DUP_FN;
}

int read_callbacks(const attrcache_callbacks* given, attrcache_callbacks* known) {
  const int result = read_filled(given, known);
  return result == ATTRCACHE_OK && !are_right(*known) ? ATTRCACHE_ERR_ARGUMENT : result;
}

[[gnu::noinline, gnu::cold]] int create_unusual(attrcache_kind* kind,
                                                const attrcache_callbacks* callbacks, int* keyval) {
  attrcache_callbacks known;
  const int result = read_callbacks(callbacks, &known);
  return result == ATTRCACHE_OK ? Registry::of(kind).create(known, keyval) : result;
}

bool is_right(const Registry& registry, const attrcache_predefined& p) {
  const bool fits =
      p.tag == ATTRCACHE_AS_INT || p.tag == ATTRCACHE_AS_POINTER || p.tag == ATTRCACHE_AS_AINT;
  return fits && static_cast<unsigned>(p.where) <= ATTRCACHE_COMPUTED &&
         (p.where == ATTRCACHE_COMPUTED) == (p.compute != nullptr) &&
         p.number != registry.settings().invalid &&
         !attrcache::id::well_formed(registry.keyval_of(p.number));
}

// A get that reads the value as another language than C does.
template <typename Value, typename See>
int get_as(const attrcache_kind* kind, const attrcache_table* table, int keyval, Value* value,
           See see) {
  if (kind == nullptr || table == nullptr || value == nullptr) return ATTRCACHE_ERR_NULL;
  const Registry& registry = Registry::of(kind);
  attrcache::Seen seen;
  const int result =
      attrcache::get_attribute(registry, Table::of(table), registry.keyval_of(keyval), &seen);
  if (result == ATTRCACHE_OK) *value = see(seen.bits);
  return result;
}

}  // namespace

extern "C" {

int attrcache_version(void) noexcept { return ATTRCACHE_VERSION; }

const char* attrcache_platform(void) noexcept { return ATTRCACHE_PROCESSOR ": " ATTRCACHE_PAIR; }

int attrcache_domain_create(const attrcache_domain_options* options,
                            attrcache_domain** domain) noexcept {
  if (domain == nullptr) return ATTRCACHE_ERR_NULL;
  attrcache_domain_options known;
  int result = read_filled(options, &known);
  attrcache_kind_options kinds[3];
  attrcache_kind_options* next = kinds;
  for (const attrcache_kind_options** kind :
       {&known.communicator, &known.datatype, &known.window}) {
    if (result != ATTRCACHE_OK) return result;
    result = read_filled(*kind, next);
    *kind = next++;
  }
  if (result != ATTRCACHE_OK) return result;
  Domain* made;
  result = Domain::create(known, &made);
  if (result == ATTRCACHE_OK) *domain = reinterpret_cast<attrcache_domain*>(made);
  return result;
}

int attrcache_domain_destroy(attrcache_domain* domain, attrcache_destroy_mode mode,
                             attrcache_leaks* leaks) noexcept {
  if (domain == nullptr) return ATTRCACHE_ERR_NULL;
  if (static_cast<unsigned>(mode) > ATTRCACHE_DESTROY_ANYWAY) return ATTRCACHE_ERR_ARGUMENT;
  const attrcache::Inspected inspected(leaks, leaks != nullptr);
  if (!inspected.valid()) return ATTRCACHE_ERR_ARGUMENT;
  if (mode == ATTRCACHE_DESTROY_ANYWAY) attrcache::end_all_handed_off(Domain::of(domain).readers());
  attrcache_leaks found;
  const int result = Domain::of(domain).end(mode == ATTRCACHE_DESTROY_ANYWAY, &found);
  inspected.fill(0, found);
  return result;
}

int attrcache_kind_of(attrcache_domain* domain, int number, attrcache_kind** kind) noexcept {
  if (domain == nullptr || kind == nullptr) return ATTRCACHE_ERR_NULL;
  Registry* const found = Domain::of(domain).kind(number);
  if (found == nullptr) return ATTRCACHE_ERR_ARGUMENT;
  *kind = found->as_kind();
  return ATTRCACHE_OK;
}

int attrcache_kind_register(attrcache_domain* domain, const attrcache_kind_options* options,
                            attrcache_kind** kind) noexcept {
  if (domain == nullptr || kind == nullptr) return ATTRCACHE_ERR_NULL;
  attrcache_kind_options known;
  int result = read_filled(options, &known);
  if (result != ATTRCACHE_OK) return result;
  Registry* made;
  result = Domain::of(domain).add_kind(known, &made);
  if (result == ATTRCACHE_OK) *kind = made->as_kind();
  return result;
}

int attrcache_kind_numbers(const attrcache_kind* kind, attrcache_keyval_numbers* numbers) noexcept {
  if (kind == nullptr || numbers == nullptr) return ATTRCACHE_ERR_NULL;
  const attrcache::DomainSettings& settings = Registry::of(kind).settings();
  *numbers = {settings.mask ^ attrcache::id::kMarker, settings.invalid};
  return ATTRCACHE_OK;
}

int attrcache_keyval_create(attrcache_kind* kind, const attrcache_callbacks* callbacks,
                            int* keyval) noexcept {
  if (kind == nullptr || keyval == nullptr) return ATTRCACHE_ERR_NULL;
  if (callbacks != nullptr && are_usual(*callbacks)) [[likely]]
    return Registry::of(kind).create(*callbacks, keyval);
  return create_unusual(kind, callbacks, keyval);
}

int attrcache_keyval_set_callbacks(attrcache_kind* kind, int keyval,
                                   const attrcache_callbacks* callbacks) noexcept {
  if (kind == nullptr || callbacks == nullptr) return ATTRCACHE_ERR_NULL;
  attrcache_callbacks known;
  const int result = read_callbacks(callbacks, &known);
  Registry& registry = Registry::of(kind);
  return result == ATTRCACHE_OK ? registry.set_callbacks(registry.keyval_of(keyval), known)
                                : result;
}

int attrcache_keyval_free(attrcache_kind* kind, int* keyval) noexcept {
  if (kind == nullptr || keyval == nullptr) return ATTRCACHE_ERR_NULL;
  return Registry::of(kind).free(keyval);
}

int attrcache_get_fint(const attrcache_kind* kind, const attrcache_table* table, int keyval,
                       int* value) noexcept {
  return get_as(kind, table, keyval, value, attrcache::seen_as_fint);
}

int attrcache_get_aint(const attrcache_kind* kind, const attrcache_table* table, int keyval,
                       intptr_t* value) noexcept {
  return get_as(kind, table, keyval, value, attrcache::seen_as_aint);
}

int attrcache_borrow(attrcache_kind* kind, attrcache_table* table, int keyval,
                     attrcache_borrowed* borrowed) noexcept {
  return attrcache::borrow(kind, table, keyval, borrowed);
}

int attrcache_give_back(attrcache_borrowed* borrowed) noexcept {
  return attrcache::give_back(borrowed);
}

int attrcache_keyval_define(attrcache_kind* kind, const attrcache_predefined* predefined) noexcept {
  if (kind == nullptr || predefined == nullptr) return ATTRCACHE_ERR_NULL;
  attrcache_predefined known;
  const int result = read_filled(predefined, &known);
  if (result != ATTRCACHE_OK) return result;
  if (!is_right(Registry::of(kind), known)) return ATTRCACHE_ERR_ARGUMENT;
  return Registry::of(kind).definitions().add(known);
}

int attrcache_set_predefined(attrcache_kind* kind, int keyval, intptr_t value) noexcept {
  if (kind == nullptr) return ATTRCACHE_ERR_NULL;
  Registry& registry = Registry::of(kind);
  const int error = registry.check(registry.keyval_of(keyval));
  if (error == ATTRCACHE_OK) return ATTRCACHE_ERR_ARGUMENT;
  if (error != ATTRCACHE_ERR_KEYVAL_PREDEFINED) return error;
  attrcache::Definition& definition = *registry.definitions().find(keyval);
  if (definition.given.where != ATTRCACHE_PER_KIND) return ATTRCACHE_ERR_ARGUMENT;
  definition.put(value);
  return ATTRCACHE_OK;
}

int attrcache_keyval_list(attrcache_kind* kind, attrcache_keyval_info* infos, size_t capacity,
                          size_t* count) noexcept {
  if (kind == nullptr || count == nullptr || (infos == nullptr && capacity != 0)) {
    return ATTRCACHE_ERR_NULL;
  }
  const attrcache::Inspected list(infos, capacity);
  if (!list.valid()) return ATTRCACHE_ERR_ARGUMENT;
  *count = attrcache::list_keyvals(Registry::of(kind), list);
  return ATTRCACHE_OK;
}

int attrcache_keyval_describe(attrcache_kind* kind, int keyval, attrcache_keyval_info* info,
                              attrcache_callbacks* callbacks) noexcept {
  if (kind == nullptr) return ATTRCACHE_ERR_NULL;
  const attrcache::Inspected one(info, info != nullptr);
  const attrcache::Inspected its(callbacks, callbacks != nullptr);
  if (!one.valid() || !its.valid()) return ATTRCACHE_ERR_ARGUMENT;
  return attrcache::describe_keyval(Registry::of(kind), keyval, one, its);
}

int attrcache_attribute_list(attrcache_kind* kind, const attrcache_table* table,
                             attrcache_attribute_info* infos, size_t capacity,
                             size_t* count) noexcept {
  if (kind == nullptr || table == nullptr || count == nullptr ||
      (infos == nullptr && capacity != 0)) {
    return ATTRCACHE_ERR_NULL;
  }
  const attrcache::Inspected list(infos, capacity);
  if (!list.valid()) return ATTRCACHE_ERR_ARGUMENT;
  *count = attrcache::list_attributes(Registry::of(kind), Table::of(table), list);
  return ATTRCACHE_OK;
}

int attrcache_domain_counters(attrcache_domain* domain, attrcache_counters* counters) noexcept {
  if (domain == nullptr || counters == nullptr) return ATTRCACHE_ERR_NULL;
  const attrcache::Inspected one(counters);
  if (!one.valid()) return ATTRCACHE_ERR_ARGUMENT;
  one.fill(0, Domain::of(domain).counters());
  return ATTRCACHE_OK;
}

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

}  // extern "C"
