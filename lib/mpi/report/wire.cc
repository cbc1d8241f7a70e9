// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/report/wire.h"

namespace attrcache::mpi::report {
namespace {

class Writer {
 public:
  explicit Writer(std::string& to) : to_(to) {}
  template <typename T>
  void operator()(const T& value) requires std::is_arithmetic_v<T> {
    to_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(const std::string& text) {
    (*this)(uint64_t{text.size()});
    to_ += text;
  }
  template <typename T, typename Each>
  void list(const std::vector<T>& items, Each each) {
    (*this)(uint64_t{items.size()});
    for (const T& item : items) each(*this, item);
  }

 private:
  std::string& to_;
};

// Beyond the end it reads zeroes, and remembers that it did.
class Reader {
 public:
  explicit Reader(const std::string& from) : from_(from) {}
  template <typename T>
  void operator()(T& value) requires std::is_arithmetic_v<T> {
    value = T{};
    if (!take(sizeof value)) return;
    std::memcpy(&value, from_.data() + at_ - sizeof value, sizeof value);
  }
  void operator()(std::string& text) {
    uint64_t size = 0;
    (*this)(size);
    if (take(size)) text.assign(from_, at_ - size, size);
  }
  template <typename T, typename Each>
  void list(std::vector<T>& items, Each each) {
    uint64_t count = 0;
    (*this)(count);
    for (uint64_t i = 0; i < count && good_; ++i) each(*this, items.emplace_back());
  }
  bool complete() const { return good_ && at_ == from_.size(); }

 private:
  bool take(uint64_t size) {
    good_ = good_ && size <= from_.size() - at_;
    if (good_) at_ += size;
    return good_;
  }
  const std::string& from_;
  size_t at_ = 0;
  bool good_ = true;
};

// Describes the format once for both directions, packing and unpacking.
template <typename Stream, typename AnyPart>
void pass(Stream& stream, AnyPart& part) {
  auto& s = part.summary;
  stream(s.rank);
  stream(s.ranks);
  stream(s.host);
  stream(s.nanoseconds);
  stream(s.finalized);
  for (auto& n : s.not_served) stream(n);
  stream.list(s.lines, [](Stream& to, auto& line) {
    to(line.kind);
    to(line.library);
    to(line.function);
    to(line.from_caller);
    to(line.made_at);
    for (auto& n : line.numbers) to(n);
    to(line.last_failure);
  });
  stream.list(s.attached, [](Stream& to, auto& a) {
    to(a.kind);
    to(a.object);
    to(a.predefined);
    to(a.deleted_by_finalize);
    to(a.library);
    to(a.function);
    to(a.count);
  });
  stream.list(s.objects, [](Stream& to, auto& o) {
    to(o.kind);
    to(o.object);
    to(o.by_dup);
    to(o.place);
    to(o.count);
  });
  stream.list(s.misuse, [](Stream& to, auto& m) {
    to(m.name);
    to(m.what);
    to(m.rule);
    to(m.count);
    to.list(m.places, [](Stream& places, auto& p) {
      places(p.place);
      places(p.count);
    });
  });
  auto& t = part.timeline;
  stream(t.pid);
  stream(t.dropped);
  stream.list(t.names, [](Stream& to, auto& name) { to(name); });
  stream.list(t.moments, [](Stream& to, auto& m) {
    to(m.start);
    to(m.duration);
    to(m.thread);
    to(m.keyval);
    to(m.code);
    to(m.name);
    to(m.kind);
    to(m.what);
  });
}

}  // namespace

std::string pack(const Part& part) {
  std::string bytes;
  Writer writer(bytes);
  pass(writer, part);
  return bytes;
}

bool unpack(const std::string& bytes, Part* part) {
  Reader reader(bytes);
  pass(reader, *part);
  return reader.complete();
}

}  // namespace attrcache::mpi::report
