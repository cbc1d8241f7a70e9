// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdlib>

#include "tests/fuzz/implementation.h"
#include "tests/support/counts.h"

namespace attrcache::fuzz {
namespace {

Object object_of(void* handle) {
  const auto bits = static_cast<int>(reinterpret_cast<intptr_t>(handle));
  return {bits / kObjects, bits % kObjects};
}
int handle_of(Object object) { return object.kind * kObjects + object.number; }
int keyval_of(void* extra) { return static_cast<int>(reinterpret_cast<intptr_t>(extra)); }

// Callbacks that get what was set, whatever its tag; their context is the implementation.
int copy_raw(void* object, int, void* extra, void* context, attrcache_tag, intptr_t in,
             attrcache_tag*, intptr_t* out, int* flag) {
  const ScriptedCopy copied =
      script_copy(*static_cast<Implementation*>(context), object_of(object), keyval_of(extra), in);
  *flag = copied.flag;
  *out = static_cast<intptr_t>(copied.value);
  return copied.code;
}
int delete_raw(void* object, int, void* extra, void* context, attrcache_tag, intptr_t value) {
  return script_delete(*static_cast<Implementation*>(context), object_of(object), keyval_of(extra),
                       value);
}
void destroy(void* extra, void* context) {
  script_destructor(*static_cast<Implementation*>(context), keyval_of(extra));
}

class Library : public Implementation {
 public:
  Library() {
    if (attrcache_domain_create(nullptr, &domain_) != ATTRCACHE_OK) std::abort();
    attrcache_kind* fourth;
    if (attrcache_kind_register(domain_, nullptr, &fourth) != ATTRCACHE_OK) std::abort();
    // Its further keyvals are in the last leaf of a table's directory, and in the tree.
    int keyval;
    for (int i = 0; i < 60; ++i) attrcache_keyval_create(fourth, nullptr, &keyval);
    for (attrcache_table*& table : tables_) table = new_table();
  }

  ~Library() override {
    attrcache_leaks leaks;
    attrcache_domain_destroy(domain_, ATTRCACHE_DESTROY_ANYWAY, &leaks);
    for (attrcache_table* table : tables_) std::free(table);
  }

  int create(const KeyvalPlan& plan) override {
    const int id = static_cast<int>(plans.size());
    plans.push_back(plan);
    attrcache_callbacks callbacks = {};
    callbacks.language = ATTRCACHE_RAW;
    if (plan.once) callbacks.flags = ATTRCACHE_DELETE_ONCE;
    callbacks.extra_state = reinterpret_cast<void*>(intptr_t{id});
    callbacks.context = static_cast<Implementation*>(this);
    if (plan.copy == Copy::kDup) callbacks.copy_fn = ATTRCACHE_DUP_FN;
    if (plan.copy == Copy::kScript) {
      callbacks.copy_fn = reinterpret_cast<attrcache_callback*>(copy_raw);
    }
    if (plan.deletes) callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(delete_raw);
    if (plan.destructor) callbacks.destructor = destroy;
    int made = id;
    const int result = attrcache_keyval_create(kind(plan.kind), &callbacks, &made);
    ints_.push_back(made);
    return result;
  }

  int free_keyval(int keyval) override {
    int copy = ints_[keyval];
    const int result = attrcache_keyval_free(kind(plans[keyval].kind), &copy);
    const bool cleared = copy == ATTRCACHE_KEYVAL_INVALID;
    if (cleared != (result == ATTRCACHE_OK)) std::abort();
    return result;
  }

  int set(Object object, int keyval, int64_t value, attrcache_tag tag, int* code) override {
    return attrcache_set_as(kind(object.kind), table(object), handle(object), ints_[keyval], value,
                            tag, code);
  }

  Reading set_if_absent(Object object, int keyval, int64_t value) override {
    void* present = nullptr;
    const int result =
        attrcache_set_if_absent(kind(object.kind), table(object), handle(object), ints_[keyval],
                                value, ATTRCACHE_AS_POINTER, &present);
    Reading reading = {result, 0};
    // What is present may be any language's: read it as `get` below does.
    if (result == ATTRCACHE_PRESENT) reading.value = get(object, keyval, false).value;
    return reading;
  }

  Reading get(Object object, int keyval, bool fint) override {
    intptr_t aint = -1;
    int fint_value = -1;
    const int as_aint = attrcache_get_aint(kind(object.kind), table(object), ints_[keyval], &aint);
    const int as_fint =
        attrcache_get_fint(kind(object.kind), table(object), ints_[keyval], &fint_value);
    void* as_pointer;
    if (as_aint != as_fint ||
        as_aint != attrcache_get(kind(object.kind), table(object), ints_[keyval], &as_pointer)) {
      std::abort();
    }
    return {as_aint, as_aint != ATTRCACHE_OK ? 0 : fint ? fint_value : aint};
  }

  int del(Object object, int keyval, int* code) override {
    return attrcache_delete(kind(object.kind), table(object), handle(object), ints_[keyval], code);
  }
  int copy_all(Object from, Object to, int* code) override {
    return attrcache_copy_all(kind(from.kind), table(from), handle(from), table(to), handle(to),
                              code);
  }

  // As attrcache_delete_all.
  int delete_each(Object object, attrcache_delete_mode mode, int* code) {
    int first = 0;
    const auto note = [](void* context, int, int told) {
      if (int& of = *static_cast<int*>(context); of == 0) of = told;
    };
    const int result =
        attrcache_delete_each(kind(object.kind), table(object), handle(object), mode, note, &first);
    if (code != nullptr && first != 0) *code = first;
    return result;
  }

  // An emptied table is replaced by a new one, as a freed object's would be. If a callback does that,
  // the calls up the stack must not touch the old one.
  int delete_all(Object object, attrcache_delete_mode mode, int* code) override {
    each_ = !each_;
    const int result = mode == kAbandon ? attrcache_table_abandon(kind(object.kind), table(object))
                       : each_          ? delete_each(object, mode, code)
                                        : attrcache_delete_all(kind(object.kind), table(object),
                                                               handle(object), mode, code);
    if (attributes_of(object) == 0 && result == ATTRCACHE_OK) {
      std::free(tables_[handle_of(object)]);
      tables_[handle_of(object)] = new_table();
    }
    return result;
  }

  int borrow(Object object, int keyval) override {
    return attrcache_borrow(kind(object.kind), table(object), ints_[keyval], &borrowed_);
  }
  int give_back() override { return attrcache_give_back(&borrowed_); }
  int touch(Object object, int keyval) override {
    attrcache_borrowed borrowed = {};
    const int result = attrcache_borrow(kind(object.kind), table(object), ints_[keyval], &borrowed);
    if (result == ATTRCACHE_OK && attrcache_give_back(&borrowed) != ATTRCACHE_OK) std::abort();
    return result;
  }

  std::vector<int64_t> list(Object object) override {
    // Within a delete_fn, a value that was set over the one being deleted is counted beside it.
    if (depth == 0 && !support::counts_are_right(*table(object))) std::abort();
    attrcache_attribute_info infos[kKeyvals];
    size_t count = 0;
    attrcache_attribute_list(kind(object.kind), table(object), infos, kKeyvals, &count);
    std::vector<int64_t> found;
    for (size_t i = 0; i < count; ++i) {
      for (size_t id = 0; id < ints_.size(); ++id) {
        if (ints_[id] == infos[i].keyval) found.push_back(static_cast<int64_t>(id));
      }
      found.push_back(infos[i].value);
      found.push_back(infos[i].tag);
    }
    return found;
  }

  size_t attributes() override {
    attrcache_counters counters;
    attrcache_domain_counters(domain_, &counters);
    return counters.attributes;
  }

 private:
  static attrcache_table* new_table() {
    return static_cast<attrcache_table*>(std::calloc(1, sizeof(attrcache_table)));
  }
  attrcache_kind* kind(int number) {
    attrcache_kind* kind = nullptr;
    attrcache_kind_of(domain_, number, &kind);
    return kind;
  }
  attrcache_table* table(Object object) { return tables_[handle_of(object)]; }
  static void* handle(Object object) {
    return reinterpret_cast<void*>(intptr_t{handle_of(object)});
  }
  size_t attributes_of(Object object) {
    size_t count = 0;
    attrcache_attribute_list(kind(object.kind), table(object), nullptr, 0, &count);
    return count;
  }

  attrcache_domain* domain_ = nullptr;
  attrcache_table* tables_[kKinds * kObjects];
  std::vector<int> ints_;
  attrcache_borrowed borrowed_ = {};
  bool each_ = false;  // whether the last free was delete_each
};

}  // namespace

std::unique_ptr<Implementation> make_library() { return std::make_unique<Library>(); }

}  // namespace attrcache::fuzz
