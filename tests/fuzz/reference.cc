// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What attrcache.h promises to a single thread, written as plainly as possible: maps, no atomics,
// and none of the library's code.

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "tests/fuzz/implementation.h"

namespace attrcache::fuzz {
namespace {

constexpr int kMaxRounds = 16;
constexpr int kMaxNestedSets = 16;

struct Attribute {
  int64_t value;
  attrcache_tag tag;
  uint64_t id;    // grows with the order of setting
  bool deleting;  // by a delete or free
  bool hidden;
  bool taken_up;    // borrowed, copied by a copy_fn, or claimed, at any time
  uint64_t unique;  // no other attachment has it
};

// A value that was deleted or replaced while it was borrowed.
struct Left {
  Object object;
  int keyval;
  Attribute attribute;
};

struct Keyval {
  bool freed = false;
  bool gone = false;
  int references = 0;
};

// A call that is under way on an object.
struct Frame {
  int object;
  int set_of = -1;  // the keyval whose delete_fn a set runs
  bool died = false;
};

int64_t kept(int64_t value, attrcache_tag tag) {
  const bool is_int = tag == ATTRCACHE_AS_INT || tag == ATTRCACHE_AS_FINT;
  return is_int ? static_cast<int32_t>(value) : value;
}

class Reference : public Implementation {
 public:
  int create(const KeyvalPlan& plan) override {
    plans.push_back(plan);
    keyvals_.emplace_back();
    return ATTRCACHE_OK;
  }

  int free_keyval(int keyval) override {
    Keyval& k = keyvals_[keyval];
    if (k.gone) return ATTRCACHE_ERR_KEYVAL_STALE;
    if (k.freed) return ATTRCACHE_OK;
    k.freed = true;
    end_if_unused(keyval);
    return ATTRCACHE_OK;
  }

  int set(Object object, int keyval, int64_t value, attrcache_tag tag, int* code) override {
    if (const int error = check(object, keyval)) return error;
    return attach(object, keyval, value, tag, code);
  }

  Reading set_if_absent(Object object, int keyval, int64_t value) override {
    if (const int error = check(object, keyval)) return {error, 0};
    const Attribute* a = find(number(object), keyval);
    if (a != nullptr && !a->deleting) return {ATTRCACHE_PRESENT, a->value};
    return {attach(object, keyval, value, ATTRCACHE_AS_POINTER, nullptr), 0};
  }

  Reading get(Object object, int keyval, bool fint) override {
    const Attribute* a = find(number(object), keyval);
    if (object.kind == plans[keyval].kind && a != nullptr && !a->hidden) {
      return {ATTRCACHE_OK, fint ? static_cast<int32_t>(a->value) : a->value};
    }
    const int error = check(object, keyval);
    return {error != 0 ? error : ATTRCACHE_ABSENT, 0};
  }

  int del(Object object, int keyval, int* code) override {
    if (const int error = check(object, keyval)) return error;
    return detach(object, keyval, false, false, code);
  }

  int copy_all(Object from, Object to, int* code) override {
    if (number(from) == number(to)) return ATTRCACHE_ERR_ARGUMENT;
    Frame stay = {number(from)};
    Frame made = {number(to)};
    frames_.push_back(&stay);
    frames_.push_back(&made);
    int result = ATTRCACHE_OK;
    int failed = 0;
    for (const int keyval : in_order(number(from))) {
      result = copy_one(from, to, keyval, made, &failed);
      if (stay.died || made.died) result = ATTRCACHE_ERR_FREED;
      if (result != ATTRCACHE_OK) break;
    }
    frames_.pop_back();
    frames_.pop_back();
    if (result == ATTRCACHE_ERR_CALLBACK) *code = failed;
    if (result != ATTRCACHE_OK && !made.died) {
      int ignored;
      delete_all(to, kUndo, &ignored);
    }
    return result;
  }

  int delete_all(Object object, attrcache_delete_mode mode, int* code) override {
    Frame stay = {number(object)};
    frames_.push_back(&stay);
    const int result = delete_rounds(object, mode, stay, code);
    frames_.pop_back();
    return result;
  }

  int borrow(Object object, int keyval) override {
    const int result = touch(object, keyval);
    if (result != ATTRCACHE_OK) return result;
    borrowing_ = true;
    borrowed_ = find(number(object), keyval)->unique;
    return ATTRCACHE_OK;
  }

  int give_back() override {
    if (!borrowing_) return ATTRCACHE_ERR_ARGUMENT;
    borrowing_ = false;
    if (!left_) return ATTRCACHE_OK;
    const Left left = *left_;
    left_.reset();
    Frame frame = {number(left.object)};
    static_cast<void>(run_delete_fn(left.object, left.keyval, left.attribute, frame));
    drop(left.keyval);
    return ATTRCACHE_OK;
  }

  int touch(Object object, int keyval) override {
    Attribute* a = find(number(object), keyval);
    if (object.kind != plans[keyval].kind || a == nullptr || a->hidden || a->deleting) {
      const int error = check(object, keyval);
      return error != 0 ? error : ATTRCACHE_ABSENT;
    }
    a->taken_up = true;
    return ATTRCACHE_OK;
  }

  std::vector<int64_t> list(Object object) override {
    std::vector<int64_t> found;
    for (const int keyval : in_order(number(object))) {
      found.push_back(keyval);
      found.push_back(find(number(object), keyval)->value);
      found.push_back(find(number(object), keyval)->tag);
    }
    return found;
  }

  size_t attributes() override {
    size_t count = left_ ? 1 : 0;
    for (const auto& table : tables_) count += table.size();
    return count;
  }

 private:
  static int number(Object object) { return object.kind * kObjects + object.number; }

  Attribute* find(int object, int keyval) {
    const auto at = tables_[object].find(keyval);
    return at != tables_[object].end() ? &at->second : nullptr;
  }

  int check(Object object, int keyval) const {
    if (plans[keyval].kind != object.kind) return ATTRCACHE_ERR_KEYVAL_KIND;
    return keyvals_[keyval].gone ? ATTRCACHE_ERR_KEYVAL_STALE : ATTRCACHE_OK;
  }

  void end_if_unused(int keyval) {
    Keyval& k = keyvals_[keyval];
    if (!k.freed || k.gone || k.references != 0) return;
    k.gone = true;
    if (plans[keyval].destructor) script_destructor(*this, keyval);
  }
  void drop(int keyval) {
    --keyvals_[keyval].references;
    end_if_unused(keyval);
  }

  std::vector<int> in_order(int object) {
    std::vector<int> found;
    for (const auto& [keyval, a] : tables_[object]) {
      if (!a.hidden) found.push_back(keyval);
    }
    std::sort(found.begin(), found.end(),
              [&](int a, int b) { return find(object, a)->id < find(object, b)->id; });
    return found;
  }

  // If the value is borrowed, leaves its deletion to give_back, and with it the reference.
  bool leave(Object object, int keyval, const Attribute& a) {
    if (!borrowing_ || borrowed_ != a.unique) return false;
    left_ = Left{object, keyval, a};
    return true;
  }

  int run_delete_fn(Object object, int keyval, const Attribute& a, Frame& frame) {
    frames_.push_back(&frame);
    const int code = script_delete(*this, object, keyval, a.value);
    frames_.pop_back();
    return code;
  }

  int attach(Object object, int keyval, int64_t value, attrcache_tag tag, int* code) {
    const int o = number(object);
    const Attribute* a = find(o, keyval);
    const Attribute made = {kept(value, tag), tag, next_id_++, false, false, false, next_unique_++};
    if (a == nullptr || a->deleting) {
      if (keyvals_[keyval].gone) return ATTRCACHE_ERR_KEYVAL_STALE;
      ++keyvals_[keyval].references;
      tables_[o][keyval] = made;
      return ATTRCACHE_OK;
    }
    if (!plans[keyval].deletes) {
      tables_[o][keyval] = made;
      return ATTRCACHE_OK;
    }
    const auto nested = std::count_if(frames_.begin(), frames_.end(), [&](const Frame* f) {
      return f->object == o && f->set_of == keyval;
    });
    if (nested >= kMaxNestedSets) return ATTRCACHE_ERR_REATTACHED;
    Attribute old = *a;
    ++keyvals_[keyval].references;
    tables_[o][keyval] = made;
    if (leave(object, keyval, old)) return ATTRCACHE_OK;
    Frame frame = {o, keyval};
    const int failed = run_delete_fn(object, keyval, old, frame);
    const Attribute* now = frame.died ? nullptr : find(o, keyval);
    const bool ours =
        now != nullptr && now->unique == made.unique && !now->taken_up && !now->deleting;
    if (failed != 0) *code = failed;
    const bool refused = failed != 0 && ours;
    if (refused && plans[keyval].once) {
      tables_[o].erase(keyval);
      drop(keyval);
    } else if (refused) {
      old.unique = next_unique_++;
      old.taken_up = false;
      tables_[o][keyval] = old;
    }
    drop(keyval);
    return refused ? ATTRCACHE_ERR_CALLBACK : ATTRCACHE_OK;
  }

  int detach(Object object, int keyval, bool within_free, bool even_if_it_fails, int* code) {
    const int o = number(object);
    Attribute* a = find(o, keyval);
    if (a == nullptr) return ATTRCACHE_OK;
    if (a->deleting) {
      a->hidden |= !within_free;
      return ATTRCACHE_OK;
    }
    int failed = 0;
    if (!plans[keyval].deletes) {
      tables_[o].erase(keyval);
    } else {
      if (within_free && borrowing_ && borrowed_ == a->unique) return ATTRCACHE_ERR_BUSY;
      if (leave(object, keyval, *a)) {
        tables_[o].erase(keyval);
        return ATTRCACHE_OK;
      }
      Frame frame = {o};
      const uint64_t unique = a->unique;
      a->deleting = true;
      failed = run_delete_fn(object, keyval, *a, frame);
      a = frame.died ? nullptr : find(o, keyval);
      if (a != nullptr && a->unique == unique) {
        if (failed != 0 && !even_if_it_fails && !a->hidden && !plans[keyval].once) {
          a->deleting = false;
          a->taken_up = true;
          *code = failed;
          return ATTRCACHE_ERR_CALLBACK;
        }
        tables_[o].erase(keyval);
      }
    }
    drop(keyval);
    if (failed != 0) *code = failed;
    return failed != 0 ? ATTRCACHE_ERR_CALLBACK : ATTRCACHE_OK;
  }

  int copy_one(Object from, Object to, int keyval, const Frame& made, int* code) {
    Attribute* a = find(number(from), keyval);
    if (a == nullptr || a->hidden) return ATTRCACHE_OK;
    const KeyvalPlan plan = plans[keyval];
    if (plan.copy == Copy::kNull) return ATTRCACHE_OK;
    if (plan.copy == Copy::kDup) return attach(to, keyval, a->value, a->tag, code);

    a->taken_up = true;
    ++keyvals_[keyval].references;
    const attrcache_tag tag = a->tag;
    const ScriptedCopy copied = script_copy(*this, from, keyval, a->value);
    int result = ATTRCACHE_OK;
    if (copied.code != 0) {
      *code = copied.code;
      result = ATTRCACHE_ERR_CALLBACK;
    } else if (copied.flag && !made.died) {
      result = attach(to, keyval, copied.value, tag, code);
    }
    drop(keyval);
    return result;
  }

  int delete_rounds(Object object, attrcache_delete_mode mode, const Frame& stay, int* code) {
    const int o = number(object);
    const bool gives_up = mode == ATTRCACHE_DRAIN_FINALLY || mode == kAbandon;
    if (!gives_up && mode != kUndo && left_ && number(left_->object) == o)
      return ATTRCACHE_ERR_BUSY;
    int first = ATTRCACHE_OK;
    bool told = false;  // of a failed delete_fn
    for (int round = 0; round < kMaxRounds; ++round) {
      std::vector<int> order = in_order(o);
      for (; !order.empty(); order.pop_back()) {
        const int keyval = order.back();
        const Attribute* a = find(o, keyval);
        if (a == nullptr || a->hidden) continue;
        int failed = 0;
        const int result = mode == kAbandon ? give_up(o, keyval)
                                            : detach(object, keyval, true,
                                                     mode != ATTRCACHE_STOP_AT_FAILURE, &failed);
        if (first == ATTRCACHE_OK) first = result;
        if (failed != 0 && !std::exchange(told, true)) *code = failed;
        if (stay.died) return first;
        if (result == ATTRCACHE_ERR_BUSY && mode == kUndo) {
          detach(object, keyval, false, false, &failed);
        } else if (result == ATTRCACHE_ERR_BUSY) {
          if (!gives_up) return result;
          give_up(o, keyval);
          if (stay.died) return first;
        }
        if (result != ATTRCACHE_OK && mode == ATTRCACHE_STOP_AT_FAILURE) return first;
      }
      const auto left = [&] {
        return std::any_of(tables_[o].begin(), tables_[o].end(),
                           [](const auto& entry) { return !entry.second.deleting; });
      };
      if (left()) continue;
      if (left_ && number(left_->object) == o) {
        if (!gives_up) return ATTRCACHE_ERR_BUSY;
        const int keyval = left_->keyval;
        left_.reset();
        drop(keyval);
        if (stay.died) return first;
        if (left()) continue;
      }
      // Operations on the new object further up the stack go on, even if a dup fails.
      const bool in_use = std::any_of(frames_.begin(), frames_.end(), [&](const Frame* f) {
        return f->object == o && f != &stay && !f->died;
      });
      if (mode == kUndo && in_use) return first;
      for (Frame* f : frames_) {
        if (f->object == o) f->died = true;
      }
      tables_[o].clear();
      return first;
    }
    if (mode == ATTRCACHE_DRAIN_FINALLY) delete_all(object, kAbandon, code);
    return ATTRCACHE_ERR_REATTACHED;
  }

  // Detaches the attribute without a call of its delete_fn.
  int give_up(int object, int keyval) {
    if (find(object, keyval)->deleting) return ATTRCACHE_OK;
    tables_[object].erase(keyval);
    drop(keyval);
    return ATTRCACHE_OK;
  }

  std::map<int, Attribute> tables_[kKinds * kObjects];
  std::vector<Keyval> keyvals_;
  std::vector<Frame*> frames_;
  bool borrowing_ = false;
  uint64_t borrowed_ = 0;  // which attachment
  std::optional<Left> left_;
  uint64_t next_unique_ = 1;
  uint64_t next_id_ = 1;
};

}  // namespace

std::unique_ptr<Implementation> make_reference() { return std::make_unique<Reference>(); }

}  // namespace attrcache::fuzz
