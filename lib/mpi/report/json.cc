// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/report/json.h"

#include <cstdio>

namespace attrcache::mpi::report {
namespace {

// The length of the UTF-8 sequence at the beginning of `text`, or 0 if there is none.
size_t sequence(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  size_t length = 0;
  unsigned lowest = 0x80;  // of the second byte: no overlong forms, no surrogates
  unsigned highest = 0xbf;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) length = 2;
  if (first >= 0xe0 && first <= 0xef) length = 3;
  if (first >= 0xf0 && first <= 0xf4) length = 4;
  if (first == 0xe0) lowest = 0xa0;
  if (first == 0xed) highest = 0x9f;
  if (first == 0xf0) lowest = 0x90;
  if (first == 0xf4) highest = 0x8f;
  if (length == 0 || text.size() < length) return 0;
  if (byte(1) < lowest || byte(1) > highest) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

Json& Json::add(std::string_view text) {
  separate();
  text_ += '"';
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const size_t length = sequence(text.substr(i));
    if (length == 0) {
      text_ += '?';
      ++i;
      continue;
    }
    if (byte == '"' || byte == '\\') {
      text_ += '\\';
      text_ += text[i];
    } else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      text_ += escape;
    } else {
      text_.append(text, i, length);
    }
    i += length;
  }
  text_ += '"';
  return *this;
}

}  // namespace attrcache::mpi::report
