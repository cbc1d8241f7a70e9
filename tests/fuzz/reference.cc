// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What attrcache.h promises to a single thread, written as plainly as possible: maps, no atomics,
// and none of the library's code.

#include <algorithm>
#include <map>

#include "tests/fuzz/implementation.h"

namespace attrcache::fuzz {
namespace {

constexpr int kMaxRounds = 16;

struct Attribute {
  int64_t value;
  attrcache_tag tag;
  uint64_t id;  // grows with the order of setting
  bool deleting;
  bool replacing;  // the deletion is part of a set
  bool hidden;
};

struct Keyval {
  bool freed = false;
  bool gone = false;
  int references = 0;
};

struct Frame {
  enum Use { kDeleting, kCopying, kBorrowing, kWhole } use;
  int object;
  int keyval;
  uint64_t id;
  bool unpinned = false;
  bool died = false;
  bool reattached = false;
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
    if (plans[keyval].predefined) return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
    if (k.freed) return ATTRCACHE_OK;
    k.freed = true;
    end_if_unused(keyval);
    return ATTRCACHE_OK;
  }

  int set(Object object, int keyval, int64_t value, attrcache_tag tag, int* code) override {
    if (const int error = check(object, keyval)) return error;
    if (plans[keyval].predefined) return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
    return attach(object, keyval, value, tag, code);
  }

  int set_predefined(Object object, int keyval, int64_t value) override {
    if (const int error = check(object, keyval)) return error;
    if (!plans[keyval].predefined) return ATTRCACHE_ERR_ARGUMENT;
    return attach(object, keyval, value, plans[keyval].predefined_tag, nullptr);
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
    if (plans[keyval].predefined) return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
    return detach(object, keyval, false, code);
  }

  int copy_all(Object from, Object to, int* code) override {
    if (number(from) == number(to)) return ATTRCACHE_ERR_ARGUMENT;
    Frame stay = {Frame::kWhole, number(from), -1, 0};
    frames_.push_back(&stay);
    int result = ATTRCACHE_OK;
    int failed = 0;
    for (const int keyval : in_order(number(from))) {
      result = copy_one(from, to, keyval, &failed);
      if (stay.died) result = ATTRCACHE_ERR_BUSY;
      if (result != ATTRCACHE_OK) break;
    }
    frames_.pop_back();
    if (result == ATTRCACHE_ERR_CALLBACK) *code = failed;
    if (result != ATTRCACHE_OK) {
      int ignored;
      delete_all(to, ATTRCACHE_DRAIN, &ignored);
    }
    return result;
  }

  int delete_all(Object object, attrcache_delete_mode mode, int* code) override {
    Frame stay = {Frame::kWhole, number(object), -1, 0};
    frames_.push_back(&stay);
    const int result = delete_rounds(object, mode, stay, code);
    frames_.pop_back();
    return result;
  }

  int borrow(Object object, int keyval) override {
    const Attribute* a = find(number(object), keyval);
    if (object.kind != plans[keyval].kind || a == nullptr || a->hidden || a->deleting) {
      const int error = check(object, keyval);
      if (error != 0) return error;
      return a != nullptr && a->replacing && !a->hidden ? ATTRCACHE_ERR_DELETING : ATTRCACHE_ABSENT;
    }
    borrowed_ = {Frame::kBorrowing, number(object), keyval, a->id};
    frames_.push_back(&borrowed_);
    return ATTRCACHE_OK;
  }

  int give_back() override {
    const auto at = std::find(frames_.begin(), frames_.end(), &borrowed_);
    if (at == frames_.end()) return ATTRCACHE_ERR_ARGUMENT;
    frames_.erase(at);
    return ATTRCACHE_OK;
  }

  std::vector<int64_t> list(Object object) override {
    std::vector<int64_t> found;
    for (const int keyval : in_order(number(object))) {
      found.push_back(keyval);
      found.push_back(find(number(object), keyval)->value);
    }
    return found;
  }

  size_t attributes() override {
    size_t count = 0;
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

  // A deletion's own pins and borrows.
  int give_up_pins(int object, int keyval, uint64_t id) {
    const auto holds = [=](const Frame* f) {
      return f->object == object && f->keyval == keyval && f->id == id && !f->died;
    };
    const bool borrowed = std::any_of(frames_.begin(), frames_.end(), [&](const Frame* f) {
      return f->use == Frame::kBorrowing && holds(f);
    });
    if (borrowed) return ATTRCACHE_ERR_BORROWED;
    for (Frame* f : frames_) {
      if (f->use == Frame::kCopying && holds(f)) f->unpinned = true;
    }
    return ATTRCACHE_OK;
  }

  int run_delete_fn(Object object, int keyval, Attribute& a, Frame& frame) {
    a.deleting = true;
    frame = {Frame::kDeleting, number(object), keyval, a.id};
    frames_.push_back(&frame);
    const auto as_seen =
        plans[keyval].language == ATTRCACHE_FORTRAN_FINT ? static_cast<int32_t>(a.value) : a.value;
    const int code = script_delete(*this, object, keyval, as_seen);
    frames_.pop_back();
    return code;
  }

  int attach(Object object, int keyval, int64_t value, attrcache_tag tag, int* code) {
    const int o = number(object);
    bool reference = false;
    int rounds = 0;
    for (;;) {
      Attribute* a = find(o, keyval);
      if (a == nullptr || a->deleting) {
        if (!reference) {
          if (keyvals_[keyval].gone) return ATTRCACHE_ERR_KEYVAL_STALE;
          ++keyvals_[keyval].references;
        }
        break;
      }
      if (const int error = give_up_pins(o, keyval, a->id)) {
        if (reference) drop(keyval);
        return error;
      }
      if (plans[keyval].del == Delete::kNull) {
        if (reference) drop(keyval);
        break;
      }
      Frame frame;
      const uint64_t id = a->id;
      a->replacing = true;
      const int failed = run_delete_fn(object, keyval, *a, frame);
      a = find(o, keyval);
      const bool same = !frame.died && a != nullptr && a->id == id;
      if (failed != 0 || frame.died) {
        if (failed != 0) *code = failed;
        const bool restored = same && !a->hidden && !plans[keyval].once;
        if (restored) a->deleting = a->replacing = false;
        if (same && !restored) tables_[o].erase(keyval);
        if (reference) --keyvals_[keyval].references;
        if (!restored) drop(keyval);
        return failed != 0 ? ATTRCACHE_ERR_CALLBACK : ATTRCACHE_ERR_BUSY;
      }
      if (same) {
        if (reference) --keyvals_[keyval].references;
        break;
      }
      if (reference) --keyvals_[keyval].references;
      reference = true;
      if (frame.reattached && ++rounds == kMaxRounds) {
        drop(keyval);
        return ATTRCACHE_ERR_REATTACHED;
      }
    }
    tables_[o][keyval] = {kept(value, tag), tag, next_id_++, false, false, false};
    for (Frame* f : frames_) {
      if (f->object == o && f->keyval == keyval) f->reattached = true;
    }
    return ATTRCACHE_OK;
  }

  int detach(Object object, int keyval, bool even_if_it_fails, int* code) {
    const int o = number(object);
    Attribute* a = find(o, keyval);
    if (a == nullptr) return ATTRCACHE_OK;
    if (a->deleting) {
      a->hidden = true;
      return ATTRCACHE_OK;
    }
    if (const int error = give_up_pins(o, keyval, a->id)) return error;
    int failed = 0;
    if (plans[keyval].del == Delete::kNull) {
      tables_[o].erase(keyval);
    } else {
      Frame frame;
      const uint64_t id = a->id;
      failed = run_delete_fn(object, keyval, *a, frame);
      a = find(o, keyval);
      if (!frame.died && a != nullptr && a->id == id) {
        if (failed != 0 && !even_if_it_fails && !a->hidden && !plans[keyval].once) {
          a->deleting = false;
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

  int copy_one(Object from, Object to, int keyval, int* code) {
    const Attribute* a = find(number(from), keyval);
    if (a == nullptr || a->deleting) return ATTRCACHE_OK;
    const KeyvalPlan plan = plans[keyval];
    if (plan.copy == Copy::kNull) return ATTRCACHE_OK;
    if (plan.copy == Copy::kDup) return attach(to, keyval, a->value, a->tag, code);

    Frame frame = {Frame::kCopying, number(from), keyval, a->id};
    ++keyvals_[keyval].references;
    frames_.push_back(&frame);
    const bool fint = plan.language == ATTRCACHE_FORTRAN_FINT;
    const ScriptedCopy copied =
        script_copy(*this, from, keyval, fint ? static_cast<int32_t>(a->value) : a->value);
    frames_.pop_back();
    int result = ATTRCACHE_OK;
    if (copied.code != 0) {
      *code = copied.code;
      result = ATTRCACHE_ERR_CALLBACK;
    } else if (copied.flag) {
      const attrcache_tag tag = fint                                      ? ATTRCACHE_AS_FINT
                                : plan.language == ATTRCACHE_FORTRAN_AINT ? ATTRCACHE_AS_AINT
                                                                          : ATTRCACHE_AS_POINTER;
      result = attach(to, keyval, copied.value, tag, code);
    }
    drop(keyval);
    return result;
  }

  int delete_rounds(Object object, attrcache_delete_mode mode, const Frame& stay, int* code) {
    const int o = number(object);
    int first = ATTRCACHE_OK;
    int first_code = 0;
    const auto ended = [&] {
      if (first == ATTRCACHE_ERR_CALLBACK) *code = first_code;
      return first;
    };
    for (int round = 0; round < kMaxRounds; ++round) {
      std::vector<int> order = in_order(o);
      std::reverse(order.begin(), order.end());
      for (const int keyval : order) {
        const Attribute* a = find(o, keyval);
        if (a == nullptr || a->hidden) continue;
        int failed = 0;
        const int result = detach(object, keyval, mode == ATTRCACHE_DRAIN, &failed);
        if (result != ATTRCACHE_OK && first == ATTRCACHE_OK) {
          first = result;
          first_code = failed;
        }
        if (stay.died) return ended();
        if (result == ATTRCACHE_ERR_BORROWED) return result;
        if (result != ATTRCACHE_OK && mode == ATTRCACHE_STOP_AT_FAILURE) return ended();
      }
      const bool left = std::any_of(tables_[o].begin(), tables_[o].end(),
                                    [](const auto& entry) { return !entry.second.deleting; });
      if (left) continue;
      for (Frame* f : frames_) {
        if (f->object == o) f->died = true;
      }
      tables_[o].clear();
      return ended();
    }
    return ATTRCACHE_ERR_REATTACHED;
  }

  std::map<int, Attribute> tables_[kKinds * kObjects];
  std::vector<Keyval> keyvals_;
  std::vector<Frame*> frames_;
  Frame borrowed_ = {};
  uint64_t next_id_ = 1;
};

}  // namespace

std::unique_ptr<Implementation> make_reference() { return std::make_unique<Reference>(); }

}  // namespace attrcache::fuzz
