// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/implementation.h"

namespace attrcache::fuzz {
namespace {

class Library;
Library* current;  // callbacks are plain functions; one implementation is played at a time

Object object_of(int handle) { return {handle / kObjects, handle % kObjects}; }
int handle_of(Object object) { return object.kind * kObjects + object.number; }

// A C callback gets a pointer: a scripted value itself, which is small, or the address of an int or
// Aint.
int64_t value_of(void* seen) {
  const auto bits = reinterpret_cast<intptr_t>(seen);
  if (bits < (1 << 24)) return bits;
  int64_t value = 0;
  std::memcpy(&value, seen, sizeof(int));
  return value;
}

int copy_for(int handle, int64_t extra, int64_t in, int64_t* out, int* flag);
int delete_for(int handle, int64_t extra, int64_t value);

int copy_c(void* object, int, void* extra, void* in, void* out, int* flag) {
  int64_t made = 0;
  const int code = copy_for(static_cast<int>(reinterpret_cast<intptr_t>(object)),
                            reinterpret_cast<intptr_t>(extra), value_of(in), &made, flag);
  *static_cast<void**>(out) = reinterpret_cast<void*>(made);
  return code;
}
int copy_c_int(int object, int keyval, void* extra, void* in, void* out, int* flag) {
  return copy_c(reinterpret_cast<void*>(intptr_t{object}), keyval, extra, in, out, flag);
}
int delete_c(void* object, int, void* value, void* extra) {
  return delete_for(static_cast<int>(reinterpret_cast<intptr_t>(object)),
                    reinterpret_cast<intptr_t>(extra), value_of(value));
}
int delete_c_int(int object, int keyval, void* value, void* extra) {
  return delete_c(reinterpret_cast<void*>(intptr_t{object}), keyval, value, extra);
}
template <typename Value>
void copy_fortran(int* object, int*, Value* extra, Value* in, Value* out, int* flag, int* ierror) {
  int64_t made = 0;
  *ierror = copy_for(*object, *extra, *in, &made, flag);
  *out = static_cast<Value>(made);
}
template <typename Value>
void delete_fortran(int* object, int*, Value* value, Value* extra, int* ierror) {
  *ierror = delete_for(*object, *extra, *value);
}
void destroy_extra(void* extra);

template <typename Function>
attrcache_callback* generic(Function* function) {
  return reinterpret_cast<attrcache_callback*>(function);
}

class Library : public Implementation {
 public:
  Library() {
    attrcache_kind_options by_int = {sizeof(by_int), ATTRCACHE_HANDLE_INT, "by int", nullptr};
    attrcache_domain_options options = {};
    options.datatype = &by_int;
    if (attrcache_domain_create(&options, &domain_) != ATTRCACHE_OK) std::abort();
    attrcache_kind* fourth;
    if (attrcache_kind_register(domain_, nullptr, &fourth) != ATTRCACHE_OK) std::abort();
    for (attrcache_table*& table : tables_) table = new_table();
    current = this;
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
    callbacks.language = plan.language;
    if (plan.once)
      callbacks.language =
          static_cast<attrcache_language>(callbacks.language | ATTRCACHE_DELETE_ONCE);
    callbacks.extra_state = reinterpret_cast<void*>(intptr_t{id});
    if (plan.destructor) callbacks.destructor = destroy_extra;
    const bool by_int = plan.kind == ATTRCACHE_DATATYPE;
    if (plan.copy == Copy::kDup) callbacks.copy_fn = ATTRCACHE_DUP_FN;
    if (plan.copy == Copy::kScript) {
      callbacks.copy_fn = plan.language == ATTRCACHE_FORTRAN_FINT ? generic(copy_fortran<int>)
                          : plan.language == ATTRCACHE_FORTRAN_AINT
                              ? generic(copy_fortran<intptr_t>)
                          : by_int ? generic(copy_c_int)
                                   : generic(copy_c);
    }
    if (plan.del == Delete::kScript) {
      callbacks.delete_fn = plan.language == ATTRCACHE_FORTRAN_FINT ? generic(delete_fortran<int>)
                            : plan.language == ATTRCACHE_FORTRAN_AINT
                                ? generic(delete_fortran<intptr_t>)
                            : by_int ? generic(delete_c_int)
                                     : generic(delete_c);
    }
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
    return attrcache_set(kind(object.kind), table(object), handle(object), ints_[keyval], value,
                         tag, code);
  }

  Reading get(Object object, int keyval, bool fint) override {
    void* seen = nullptr;
    intptr_t aint = -1;
    int fint_value = -1;
    const int as_c = attrcache_get(kind(object.kind), table(object), ints_[keyval], &seen);
    const int as_aint = attrcache_get_aint(kind(object.kind), table(object), ints_[keyval], &aint);
    const int as_fint =
        attrcache_get_fint(kind(object.kind), table(object), ints_[keyval], &fint_value);
    if (as_c != as_aint || as_c != as_fint) std::abort();
    if (as_c != ATTRCACHE_OK) return {as_c, 0};
    if (value_of(seen) != static_cast<int>(aint) && value_of(seen) != aint) std::abort();
    return {as_c, fint ? fint_value : aint};
  }

  int del(Object object, int keyval, int* code) override {
    return attrcache_delete(kind(object.kind), table(object), handle(object), ints_[keyval], code);
  }
  int copy_all(Object from, Object to, int* code) override {
    return attrcache_copy_all(kind(from.kind), table(from), handle(from), table(to), handle(to),
                              code);
  }

  // An emptied table outside all callbacks is replaced by a new one, as a freed object's would be.
  int delete_all(Object object, attrcache_delete_mode mode, int* code) override {
    const int result =
        attrcache_delete_all(kind(object.kind), table(object), handle(object), mode, code);
    if (depth == 0 && attributes_of(object) == 0 && result == ATTRCACHE_OK) {
      std::free(tables_[handle_of(object)]);
      tables_[handle_of(object)] = new_table();
    }
    return result;
  }

  int borrow(Object object, int keyval) override {
    return attrcache_borrow(kind(object.kind), table(object), ints_[keyval], &borrowed_);
  }
  int give_back() override { return attrcache_give_back(&borrowed_); }

  std::vector<int64_t> list(Object object) override {
    attrcache_attribute_info infos[kKeyvals];
    size_t count = 0;
    attrcache_attribute_list(kind(object.kind), table(object), infos, kKeyvals, &count);
    std::vector<int64_t> found;
    for (size_t i = 0; i < count; ++i) {
      for (size_t id = 0; id < ints_.size(); ++id) {
        if (ints_[id] == infos[i].keyval) found.push_back(static_cast<int64_t>(id));
      }
      found.push_back(infos[i].value);
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
  attrcache_kind* kind(int number) { return attrcache_kind_of(domain_, number); }
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
};

int copy_for(int handle, int64_t extra, int64_t in, int64_t* out, int* flag) {
  const ScriptedCopy copied = script_copy(*current, object_of(handle), static_cast<int>(extra), in);
  *flag = copied.flag;
  *out = copied.value;
  return copied.code;
}

int delete_for(int handle, int64_t extra, int64_t value) {
  return script_delete(*current, object_of(handle), static_cast<int>(extra), value);
}

void destroy_extra(void* extra) {
  script_destructor(*current, static_cast<int>(reinterpret_cast<intptr_t>(extra)));
}

}  // namespace

std::unique_ptr<Implementation> make_library() { return std::make_unique<Library>(); }

}  // namespace attrcache::fuzz
