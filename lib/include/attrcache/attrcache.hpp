// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// attrcache's C++ API: the C API with types, owners and lambdas. Header-only, C++20.
//
//   struct Session { attrcache::Attributes attributes; };        // your object embeds a table
//
//   auto domain = attrcache::Domain::create();                   // Result<Domain>
//   if (!domain) return domain.status();                         // so for each Result, before use
//   auto sessions = domain->add_kind<Session>("session");        // Result<Kind<Session>>
//   if (!sessions) return sessions.status();
//   auto cache = attrcache::Keyval<Cache, Session>::create(      // Result<Keyval<Cache, Session>>
//       *sessions, attrcache::clone, attrcache::destroy);
//   if (!cache) return cache.status();
//   auto set = cache->set(session, std::make_unique<Cache>());   // Outcome
//   if (!set) return set.status;
//   if (Cache* found = cache->get(session)) found->use();        // null: nothing attached
//   if (auto held = cache->borrow(session)) held->use();         // nobody deletes it meanwhile
//   if (auto held = cache->get_or_emplace(session)) held->use(); // made by one thread, if absent
//   return sessions->delete_all(session).status;                 // before the session ends
//
// tests/embedding/TUTORIAL.md has a whole program.
//
// attrcache.h has the contract: threads, progress, and the guarantees 1 to 12. Everything here also
// works in a domain created in C with other ints for its keyvals (attrcache_keyval_numbers).
//
// Cost: get, set and erase are nothing but the call of their C function; borrow stores one int
// more. Callbacks without state cost nothing; those with state cost one allocation per keyval.
//
// Errors are values (Status, Outcome, Result); nothing here throws, except that get_or_emplace lets
// exceptions of T's constructor pass. A callback may throw, which
// becomes Status::callback with the code ATTRCACHE_CALLBACK_THREW; but moving it must not throw.
//
// Lifetimes: a Domain must outlive its Kinds and Keyvals, so declare it before them. Destroying a
// Keyval frees it; attributes attached under it stay in service until the last is deleted. An
// object's end deletes none of its attributes: first call Kind::delete_all, or, in its destructor,
// Kind::drain_finally. To see that nothing is left at the end, free each Keyval by free(), then
// call Domain::destroy().
//
// The names are in an inline namespace, apart from those of the library's own sources.

#ifndef ATTRCACHE_ATTRCACHE_HPP_
#define ATTRCACHE_ATTRCACHE_HPP_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "attrcache/attrcache.h"

#if __cplusplus < 202002L
#error "attrcache/attrcache.hpp needs C++20 (-std=c++20); attrcache/attrcache.h does not"
#endif

// Inlined early, so that g++ compiles a member to the bare C call.
#if defined(__GNUC__)
#define ATTRCACHE_INLINE [[gnu::always_inline]]
#else
#define ATTRCACHE_INLINE
#endif

namespace attrcache {
inline namespace cxx {

// ---- Results -----------------------------------------------------------------------------------

enum class Status : int {
  ok = ATTRCACHE_OK,
  absent = ATTRCACHE_ABSENT,
  present = ATTRCACHE_PRESENT,
  null = ATTRCACHE_ERR_NULL,
  argument = ATTRCACHE_ERR_ARGUMENT,
  keyval_invalid = ATTRCACHE_ERR_KEYVAL_INVALID,
  keyval_unknown = ATTRCACHE_ERR_KEYVAL_UNKNOWN,
  keyval_stale = ATTRCACHE_ERR_KEYVAL_STALE,
  keyval_kind = ATTRCACHE_ERR_KEYVAL_KIND,
  keyval_predefined = ATTRCACHE_ERR_KEYVAL_PREDEFINED,
  callback = ATTRCACHE_ERR_CALLBACK,
  reattached = ATTRCACHE_ERR_REATTACHED,
  busy = ATTRCACHE_ERR_BUSY,
  freed = ATTRCACHE_ERR_FREED,
  exists = ATTRCACHE_ERR_EXISTS,
  thread = ATTRCACHE_ERR_THREAD,
  moved = ATTRCACHE_ERR_MOVED,
  memory = ATTRCACHE_ERR_MEMORY,
  keyvals_exhausted = ATTRCACHE_ERR_KEYVALS_EXHAUSTED,
  kinds_exhausted = ATTRCACHE_ERR_KINDS_EXHAUSTED,
  unsupported = ATTRCACHE_ERR_UNSUPPORTED
};

// One line of English.
inline const char* describe(Status status) noexcept {
  return attrcache_strerror(static_cast<int>(status));
}

// The result of a call that may have run callbacks.
struct [[nodiscard]] Outcome {
  Status status = Status::ok;
  // What the callback returned: with Status::callback; or with Status::ok, if a delete_fn has
  // failed and its value is gone all the same.
  int callback_code = 0;
  explicit operator bool() const noexcept { return status == Status::ok; }
};

// A T, or why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) noexcept : value_(std::move(value)) {}
  Result(Status error) noexcept : status_(error) {}
  explicit operator bool() const noexcept { return value_.has_value(); }
  Status status() const noexcept { return status_; }
  // These need a Result that has a value.
  T& operator*() & noexcept { return *value_; }
  T&& operator*() && noexcept { return std::move(*value_); }
  T* operator->() noexcept { return &*value_; }

 private:
  Status status_ = Status::ok;
  std::optional<T> value_;
};

// ---- Objects -----------------------------------------------------------------------------------

// A table that can't be copied: nor can then its object, whose attributes would be deleted twice.
// Its destructor deletes nothing: see Kind::delete_all and drain_finally.
struct Attributes : attrcache_table {
  constexpr Attributes() noexcept : attrcache_table{} {}
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
};

// Finds an object's table: its member `attributes`. Specialize it for objects that keep theirs
// elsewhere.
template <typename Object>
struct TableOf {
  static attrcache_table* get(Object& object) noexcept { return &object.attributes; }
  static const attrcache_table* get(const Object& object) noexcept { return &object.attributes; }
};

// A kind of object in a domain, with the type of its objects. A small handle; copy it freely.
template <typename Object>
class Kind {
 public:
  explicit Kind(attrcache_kind* native) noexcept : native_(native) {}
  attrcache_kind* native() const noexcept { return native_; }

  // Dup: attaches to `to` what the copy functions return for the attributes of `from`.
  Outcome copy_all(Object& from, Object& to) const noexcept {
    Outcome out;
    out.status = static_cast<Status>(
        attrcache_copy_all(native_, TableOf<Object>::get(from), std::addressof(from),
                           TableOf<Object>::get(to), std::addressof(to), &out.callback_code));
    return out;
  }

  // Free: deletes every attribute, in the reverse order of setting; stops at the first failure.
  // Status::busy while a thread, maybe this one, holds a value: call it again after the give-back.
  Outcome delete_all(Object& object) const noexcept {
    return delete_all(object, ATTRCACHE_STOP_AT_FAILURE);
  }

  // The same, but goes on after failures, and returns the first.
  Outcome drain(Object& object) const noexcept { return delete_all(object, ATTRCACHE_DRAIN); }

  // The same for destructors: the object has no attributes afterwards, whatever this returns.
  Outcome drain_finally(Object& object) const noexcept {
    return delete_all(object, ATTRCACHE_DRAIN_FINALLY);
  }

  // Gives up every attribute without calling its delete function.
  Status abandon(Object& object) const noexcept {
    return static_cast<Status>(attrcache_table_abandon(native_, TableOf<Object>::get(object)));
  }

 private:
  Outcome delete_all(Object& object, attrcache_delete_mode mode) const noexcept {
    Outcome out;
    out.status = static_cast<Status>(attrcache_delete_all(
        native_, TableOf<Object>::get(object), std::addressof(object), mode, &out.callback_code));
    return out;
  }

  attrcache_kind* native_;
};

// One independent set of keyvals. Its destructor abandons what is still attached; destroy() fails
// instead. No Keyval may be left when the destructor runs.
class Domain {
 public:
  static Result<Domain> create() noexcept {
    attrcache_domain* native = nullptr;
    const int error = attrcache_domain_create(nullptr, &native);
    if (error != ATTRCACHE_OK) return static_cast<Status>(error);
    return Domain(native);
  }

  // Takes over a domain created in C.
  explicit Domain(attrcache_domain* native) noexcept : native_(native) {}
  Domain(Domain&& other) noexcept : native_(std::exchange(other.native_, nullptr)) {}
  Domain& operator=(Domain&& other) noexcept {
    std::swap(native_, other.native_);
    return *this;
  }
  ~Domain() {
    if (native_ != nullptr) attrcache_domain_destroy(native_, ATTRCACHE_DESTROY_ANYWAY, nullptr);
  }

  // One of the three kinds that every domain has: ATTRCACHE_COMMUNICATOR, _DATATYPE or _WINDOW; or
  // Status::argument.
  template <typename Object>
  Result<Kind<Object>> kind(int number) const noexcept {
    attrcache_kind* native = nullptr;
    const int error = attrcache_kind_of(native_, number, &native);
    if (error != ATTRCACHE_OK) return static_cast<Status>(error);
    return Kind<Object>(native);
  }

  // Registers one more kind. `name` must outlive the domain.
  template <typename Object>
  Result<Kind<Object>> add_kind(const char* name) noexcept {
    attrcache_kind_options options{};
    options.name = name;
    attrcache_kind* native = nullptr;
    const int error = attrcache_kind_register(native_, &options, &native);
    if (error != ATTRCACHE_OK) return static_cast<Status>(error);
    return Kind<Object>(native);
  }

  // Destroys the domain if no attribute is attached and no keyval is left, which a Keyval would
  // free later, in freed memory; else returns Status::busy. Fills `leaks`, if given, in either case.
  Status destroy(attrcache_leaks* leaks = nullptr) noexcept {
    const attrcache_counters now = counters();
    if (now.keyvals_created != now.keyvals_freed) {
      if (leaks != nullptr) {
        leaks->keyvals = now.keyvals_created - now.keyvals_freed;
        leaks->freed_keyvals = now.keyvals_freed - now.keyvals_gone;
        leaks->attributes = now.attributes;
      }
      return Status::busy;
    }
    const int error = attrcache_domain_destroy(native_, ATTRCACHE_DESTROY_IF_UNUSED, leaks);
    if (error == ATTRCACHE_OK) native_ = nullptr;
    return static_cast<Status>(error);
  }

  attrcache_counters counters() const noexcept {
    attrcache_counters counters{};
    attrcache_domain_counters(native_, &counters);
    return counters;
  }

  attrcache_domain* native() const noexcept { return native_; }

 private:
  attrcache_domain* native_;
};

// ---- Callbacks ---------------------------------------------------------------------------------

// What a copy callback returns: a pointer to attach; null or skip() for nothing; or fail(code).
template <typename T>
struct Copied {
  Copied(T* attached) noexcept : value(attached) {}
  Copied(std::nullptr_t) noexcept {}
  static Copied skip() noexcept { return nullptr; }
  static Copied fail(int code) noexcept {
    Copied failed(nullptr);
    failed.code = code;
    return failed;
  }
  T* value = nullptr;
  int code = 0;
};

// Callbacks that are never called: the C API's sentinels.
struct CopyNothing {};
struct Duplicate {};
struct DeleteNothing {};
inline constexpr CopyNothing copy_nothing{};
inline constexpr Duplicate duplicate{};  // both objects then share one value, which neither owns
inline constexpr DeleteNothing delete_nothing{};

// Callbacks for values created by new.
inline constexpr auto clone = []<typename T>(T* value) -> Copied<T> {
  T* copy = new (std::nothrow) T(static_cast<const T&>(*value));
  return copy != nullptr ? Copied<T>(copy) : Copied<T>::fail(ATTRCACHE_ERR_MEMORY);
};
inline constexpr auto destroy = []<typename T>(T* value) { delete value; };

// Makes `remove` a destructor (ATTRCACHE_DELETE_ONCE): it runs once for each value, which is gone
// even if it fails.
template <typename Remove>
struct Once : Remove {};
template <typename Remove>
constexpr auto once(Remove remove) {
  if constexpr (std::is_class_v<Remove> && !std::is_final_v<Remove>) {
    return Once<Remove>{std::move(remove)};
  } else {  // nothing can be derived from it
    return once([remove = std::move(remove)]<typename... A>(
                    A&&... arguments) mutable -> std::invoke_result_t<Remove&, A...> {
      return remove(std::forward<A>(arguments)...);
    });
  }
}

namespace detail {

// Returns the code of a callback, whatever it throws: an exception must not pass through the
// library.
template <typename Call>
int caught(Call call) {
#if defined(__cpp_exceptions)
  try {
    return call();
  } catch (...) {
    return ATTRCACHE_CALLBACK_THREW;
  }
#else
  return call();
#endif
}

// Callbacks may take (object, value) or (value) alone.
template <typename F, typename Object, typename T>
decltype(auto) call(F& f, Object& object, T* value) {
  if constexpr (std::is_invocable_v<F&, Object&, T*>) {
    return f(object, value);
  } else {
    return f(value);
  }
}

template <typename F>
inline constexpr bool is_once = false;
template <typename F>
inline constexpr bool is_once<Once<F>> = true;

// The C callbacks of a pair of C++ ones; extra_state points at the pair. If both are stateless
// there is no pair, and each call creates an empty one.
template <typename T, typename Object, typename Copy, typename Delete>
struct Trampolines {
  [[no_unique_address]] Copy copy;
  [[no_unique_address]] Delete remove;

  static constexpr bool kStateless = std::is_empty_v<Copy> && std::is_empty_v<Delete> &&
                                     std::is_trivially_default_constructible_v<Copy> &&
                                     std::is_trivially_default_constructible_v<Delete>;

  template <typename Use>
  static decltype(auto) with(void* extra_state, Use use) {
    if constexpr (kStateless) {
      Trampolines stateless{};
      return use(stateless);
    } else {
      return use(*static_cast<Trampolines*>(extra_state));
    }
  }

  static int run_copy(void* object, int, void* extra_state, void* in, void* out, int* flag) {
    const auto copy = [&](Trampolines& self) -> int {
      const Copied<T> copied = call(self.copy, *static_cast<Object*>(object), static_cast<T*>(in));
      *flag = copied.code == 0 && copied.value != nullptr;
      *static_cast<void**>(out) = const_cast<std::remove_const_t<T>*>(copied.value);
      return copied.code;
    };
    return caught([&] { return with(extra_state, copy); });
  }

  static int run_delete(void* object, int, void* value, void* extra_state) {
    const auto remove = [&](Trampolines& self) -> int {
      using Returned =
          decltype(call(self.remove, *static_cast<Object*>(object), static_cast<T*>(value)));
      if constexpr (std::is_void_v<Returned>) {
        call(self.remove, *static_cast<Object*>(object), static_cast<T*>(value));
        return 0;
      } else {
        return static_cast<int>(
            call(self.remove, *static_cast<Object*>(object), static_cast<T*>(value)));
      }
    };
    return caught([&] { return with(extra_state, remove); });
  }

  static void end(void* extra_state, void*) {
    caught([extra_state] {
      delete static_cast<Trampolines*>(extra_state);
      return 0;
    });
  }

  static attrcache_callbacks in_c(Trampolines* pair) {
    attrcache_callbacks c{};
    if constexpr (std::is_same_v<Copy, CopyNothing>) {
      c.copy_fn = ATTRCACHE_NULL_COPY_FN;
    } else if constexpr (std::is_same_v<Copy, Duplicate>) {
      c.copy_fn = ATTRCACHE_DUP_FN;
    } else {
      c.copy_fn = reinterpret_cast<attrcache_callback*>(&run_copy);
    }
    if constexpr (std::is_same_v<Delete, DeleteNothing>) {
      c.delete_fn = ATTRCACHE_NULL_DELETE_FN;
    } else {
      c.delete_fn = reinterpret_cast<attrcache_callback*>(&run_delete);
    }
    if constexpr (is_once<Delete>) c.flags = ATTRCACHE_DELETE_ONCE;
    c.extra_state = pair;
    if (pair != nullptr) c.destructor = &end;
    return c;
  }
};

// `duplicate` with `destroy`: both objects of a dup have the value, and would delete it. `clone`
// without a delete callback: nobody deletes the copies.
using Destroy = std::remove_const_t<decltype(destroy)>;
using Clone = std::remove_const_t<decltype(clone)>;
template <typename Copy, typename Delete>
inline constexpr bool fit =
    !(std::is_same_v<Copy, Duplicate> &&
      (std::is_same_v<Delete, Destroy> || std::is_same_v<Delete, Once<Destroy>>)) &&
    !(std::is_same_v<Copy, Clone> && std::is_same_v<Delete, DeleteNothing>);

}  // namespace detail

// For attrcache_domain_options, if C callbacks may throw.
inline int catch_exceptions(void (*call)(void* argument), void* argument) {
  return detail::caught([&] {
    call(argument);
    return 0;
  });
}

// ---- Keyvals -----------------------------------------------------------------------------------

// A guard of a borrowed value, or of none: while it lives, the value's delete callback doesn't
// start (guarantee 3). It can't be copied or moved, and the thread that created it must destroy it:
// keep it in a local variable.
template <typename T>
class [[nodiscard]] Borrowed {
 public:
  Borrowed(attrcache_kind* kind, attrcache_table* table, int keyval) noexcept
      : status_(static_cast<Status>(attrcache_borrow(kind, table, keyval, &borrowed_))) {}
  // Borrows what attach() attaches, if there is nothing. It returns ok, present, or an error.
  template <typename Attach>
  Borrowed(attrcache_kind* kind, attrcache_table* table, int keyval, Attach attach)
      : status_(borrow_or(kind, table, keyval, attach)) {}
  ~Borrowed() {
    if (status_ == Status::ok) attrcache_give_back(&borrowed_);
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  explicit operator bool() const noexcept { return status_ == Status::ok; }
  Status status() const noexcept { return status_; }  // ok, absent or an error
  T* get() const noexcept {
    return status_ == Status::ok ? static_cast<T*>(borrowed_.value) : nullptr;
  }
  std::add_lvalue_reference_t<T> operator*() const noexcept { return *get(); }  // T: not void
  T* operator->() const noexcept { return get(); }

 private:
  template <typename Attach>
  Status borrow_or(attrcache_kind* kind, attrcache_table* table, int keyval, Attach& attach) {
    for (;;) {
      const auto found = static_cast<Status>(attrcache_borrow(kind, table, keyval, &borrowed_));
      if (found != Status::absent) return found;
      const Status attached = attach();
      if (attached != Status::ok && attached != Status::present) return attached;
    }
  }

  attrcache_borrowed borrowed_ = {};
  const Status status_;
};

// A keyval whose values are T*, on objects of one type. Owns the keyval: its destructor frees it.
template <typename T, typename Object>
class Keyval {
 public:
  // `copy` is called as (Object& old, T*) or (T*) and returns Copied<T> or T*; or it is
  // copy_nothing, duplicate or clone. `remove` is called as (Object&, T*) or (T*) and returns void
  // or int (0: success); or it is once() of such a function, delete_nothing or destroy. Several
  // threads may call them at once. (duplicate with destroy, which would delete twice, and clone
  // with delete_nothing, which would leak, don't compile.)
  template <typename Copy = CopyNothing, typename Delete = DeleteNothing>
  requires(detail::fit<Copy, Delete>) static Result<Keyval> create(Kind<Object> kind,
                                                                   Copy copy = {},
                                                                   Delete remove = {}) noexcept {
    using Pair = detail::Trampolines<T, Object, Copy, Delete>;
    Pair* pair = nullptr;
    if constexpr (!Pair::kStateless) {
      pair = new (std::nothrow) Pair{std::move(copy), std::move(remove)};
      if (pair == nullptr) return Status::memory;
    }
    const attrcache_callbacks callbacks = Pair::in_c(pair);
    int keyval = ATTRCACHE_KEYVAL_INVALID;
    const int error = attrcache_keyval_create(kind.native(), &callbacks, &keyval);
    if (error == ATTRCACHE_OK) return Keyval(kind, keyval);
    delete pair;
    return static_cast<Status>(error);
  }

  // Takes over a keyval created elsewhere, whose values are T*.
  Keyval(Kind<Object> kind, int keyval) noexcept : kind_(kind.native()), keyval_(keyval) {
    attrcache_kind_numbers(kind_, &numbers_);
    for_get_ = renumbered(keyval);
  }
  Keyval(Keyval&& other) noexcept : Keyval(Kind<Object>(other.kind_), other.release()) {}
  Keyval& operator=(Keyval&& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(numbers_, other.numbers_);
    std::swap(keyval_, other.keyval_);
    std::swap(for_get_, other.for_get_);
    return *this;
  }
  ~Keyval() {
    if (keyval_ != numbers_.invalid) attrcache_keyval_free(kind_, &keyval_);
  }

  // The value, or null if nothing is attached.
  ATTRCACHE_INLINE T* get(const Object& object) const noexcept {
    void* value = nullptr;
    attrcache_get_renumbered(kind_, TableOf<Object>::get(object), for_get_, &value);
    return static_cast<T*>(value);
  }

  // The same, but distinguishes errors, absence and an attached null: ok, absent or an error.
  ATTRCACHE_INLINE Status get(const Object& object, T*& value) const noexcept {
    void* found = nullptr;
    const int result =
        attrcache_get_renumbered(kind_, TableOf<Object>::get(object), for_get_, &found);
    if (result == ATTRCACHE_OK) value = static_cast<T*>(found);
    return static_cast<Status>(result);
  }

  // Attaches a value. If the call succeeds and there is a delete callback, the attribute owns it;
  // if it fails, the caller still does.
  ATTRCACHE_INLINE Outcome set(Object& object, T* value) const noexcept {
    Outcome out;
    out.status = static_cast<Status>(
        attrcache_set(kind_, TableOf<Object>::get(object), std::addressof(object), keyval_,
                      const_cast<std::remove_const_t<T>*>(value), &out.callback_code));
    return out;
  }

  // The same for a value with an owner: a value that isn't attached is destroyed. An owner of
  // nothing (it was released, or moved from) is an error: Status::null.
  Outcome set(Object& object, std::unique_ptr<T> value) const noexcept
      requires(!std::is_void_v<T>) {
    if (value == nullptr) return {Status::null, 0};
    const Outcome out = set(object, value.get());
    if (out) static_cast<void>(value.release());
    return out;
  }

  // Attaches a value if nothing is attached, or if what is attached is being deleted; otherwise
  // Status::present, and the value is still the caller's. One step.
  ATTRCACHE_INLINE Status set_if_absent(Object& object, T* value) const noexcept {
    return static_cast<Status>(attrcache_set_if_absent(
        kind_, TableOf<Object>::get(object), std::addressof(object), keyval_,
        reinterpret_cast<intptr_t>(value), ATTRCACHE_AS_POINTER, nullptr));
  }

  // The value, kept alive; if there is none, it first attaches new T(arguments...). Of several
  // threads that call this at once, one attaches what it has made, and all get that; the others
  // destroy what they have made. Needs a keyval that deletes by `destroy` or its like. Empty only
  // with an error (see Borrowed::status). Exceptions of T's constructor pass through.
  template <typename... Arguments>
  Borrowed<T> get_or_emplace(Object& object, Arguments&&... arguments) const
      requires(!std::is_void_v<T>) {
    std::unique_ptr<T> made;
    return Borrowed<T>(kind_, TableOf<Object>::get(object), keyval_, [&]() -> Status {
      // Lvalues, as a second value is needed if the first is attached and deleted at once.
      if (made == nullptr) made.reset(new (std::nothrow) T(arguments...));
      if (made == nullptr) return Status::memory;
      const Status status = set_if_absent(object, made.get());
      if (status == Status::ok) static_cast<void>(made.release());
      return status;
    });
  }

  // Deletes the attribute; ok if nothing is attached, too (but absent with ATTRCACHE_TELL).
  ATTRCACHE_INLINE Outcome erase(Object& object) const noexcept {
    Outcome out;
    out.status = static_cast<Status>(attrcache_delete(
        kind_, TableOf<Object>::get(object), std::addressof(object), keyval_, &out.callback_code));
    return out;
  }

  // The value, kept alive: see Borrowed.
  ATTRCACHE_INLINE Borrowed<T> borrow(Object& object) const noexcept {
    return Borrowed<T>(kind_, TableOf<Object>::get(object), keyval_);
  }

  int native() const noexcept { return keyval_; }

  // Frees the keyval now, as the destructor would. Afterwards all calls fail.
  Status free() noexcept {
    for_get_ = renumbered(numbers_.invalid);
    return static_cast<Status>(attrcache_keyval_free(kind_, &keyval_));
  }

  // Hands the keyval over to the caller, who must free it.
  int release() noexcept {
    for_get_ = renumbered(numbers_.invalid);
    return std::exchange(keyval_, numbers_.invalid);
  }

 private:
  // What attrcache_get_with_base computes at each call.
  int renumbered(int keyval) const noexcept {
    return static_cast<int>(static_cast<uint32_t>(keyval) ^ numbers_.base ^
                            uint32_t{ATTRCACHE_KEYVAL_MIN});
  }

  attrcache_kind* kind_;
  attrcache_keyval_numbers numbers_ = {ATTRCACHE_KEYVAL_MIN, ATTRCACHE_KEYVAL_INVALID};
  int keyval_;
  int for_get_;
};

}  // namespace cxx
}  // namespace attrcache

#undef ATTRCACHE_INLINE

#endif  // ATTRCACHE_ATTRCACHE_HPP_
