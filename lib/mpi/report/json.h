// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Writes JSON, piece by piece.

#ifndef ATTRCACHE_MPI_REPORT_JSON_H_
#define ATTRCACHE_MPI_REPORT_JSON_H_

#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>

namespace attrcache::mpi::report {

class Json {
 public:
  // Begins an object or a list ('{' or '['), and ends it ('}' or ']'). With a name it is a member
  // of the object that was begun before.
  Json& begin(char bracket) {
    separate();
    text_ += bracket;
    first_ = true;
    return *this;
  }
  Json& end(char bracket) {
    text_ += bracket;
    first_ = false;
    return *this;
  }
  // The name of the member whose value comes next.
  Json& name(std::string_view name) {
    add(name);
    text_ += ':';
    first_ = true;
    return *this;
  }

  // A value. Bytes that aren't UTF-8 are left to the reader to replace.
  Json& add(std::string_view value) {
    separate();
    text_ += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') text_ += '\\';
      if (static_cast<unsigned char>(c) < 0x20) {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", c);
        text_ += escape;
      } else {
        text_ += c;
      }
    }
    text_ += '"';
    return *this;
  }
  Json& add(const char* value) { return add(std::string_view(value)); }
  Json& add(std::integral auto value) {
    separate();
    if constexpr (std::same_as<decltype(value), bool>) {
      text_ += value ? "true" : "false";
    } else {
      text_ += std::to_string(value);
    }
    return *this;
  }
  // A member.
  template <typename Value>
  Json& add(std::string_view member, const Value& value) {
    return name(member).add(value);
  }

  const std::string& text() const { return text_; }

 private:
  void separate() {
    if (!first_) text_ += ',';
    first_ = false;
  }

  std::string text_;
  bool first_ = true;
};

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_JSON_H_
