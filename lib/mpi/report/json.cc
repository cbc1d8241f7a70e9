// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/report/json.h"

#include <cstdio>

namespace attrcache::mpi::report {

Json& Json::add(std::string_view text) {
  separate();
  text_ += '"';
  for (const char c : text) {
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

}  // namespace attrcache::mpi::report
