// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/origin.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mpi/native/python.h"

namespace attrcache::mpi {
namespace {

// Copies a text, and cuts it off where it is too long.
template <size_t kSize>
void copy_text(char (&to)[kSize], const char* from) {
  const size_t length = strnlen(from, kSize - 1);
  std::memcpy(to, from, length);
  to[length] = '\0';
}

// Of a name that is too long for a Located, the beginning.
std::string demangled(const char* symbol) {
  int status = 0;
  char* made = std::strncmp(symbol, "_Z", 2) == 0
                   ? abi::__cxa_demangle(symbol, nullptr, nullptr, &status)
                   : nullptr;
  std::string name = made != nullptr ? made : symbol;
  std::free(made);
  return name.substr(0, 255);
}

std::string hex(uintptr_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "%#zx", size_t{number});
  return text;
}

// Reads the full symbol table of an ELF file. If the file wasn't stripped of it, it has the local
// functions, too. It is read piece by piece, so that its size doesn't matter. If anything is wrong
// with the file, the search ends.
class SymbolTable {
 public:
  explicit SymbolTable(const char* path) : file_(open(path, O_RDONLY | O_CLOEXEC)) {}
  ~SymbolTable() {
    if (file_ >= 0) close(file_);
  }
  SymbolTable(const SymbolTable&) = delete;
  SymbolTable& operator=(const SymbolTable&) = delete;

  // Finds the function that covers `address` (an address as in the file), and where it begins.
  bool find(uintptr_t address, char* name, size_t size, uintptr_t* begin) const {
    ElfW(Ehdr) header;
    if (file_ < 0 || !read_at(0, &header, sizeof header) ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_shentsize != sizeof(ElfW(Shdr))) {
      return false;
    }
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      ElfW(Shdr) symbols;
      ElfW(Shdr) strings;
      if (!read_at(header.e_shoff + i * sizeof symbols, &symbols, sizeof symbols)) return false;
      if (symbols.sh_type != SHT_SYMTAB) continue;
      return symbols.sh_link < header.e_shnum &&
             read_at(header.e_shoff + symbols.sh_link * sizeof strings, &strings, sizeof strings) &&
             search(symbols, strings, address, name, size, begin);
    }
    return false;
  }

 private:
  bool read_at(uint64_t offset, void* to, size_t size) const {
    return pread(file_, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
  }

  bool search(const ElfW(Shdr) & symbols, const ElfW(Shdr) & strings, uintptr_t address, char* name,
              size_t size, uintptr_t* begin) const {
    constexpr size_t kMany = 128;
    ElfW(Sym) some[kMany];
    const size_t count = symbols.sh_size / sizeof(ElfW(Sym));
    for (size_t at = 0; at < count; at += kMany) {
      const size_t n = count - at < kMany ? count - at : kMany;
      if (!read_at(symbols.sh_offset + at * sizeof *some, some, n * sizeof *some)) return false;
      for (size_t i = 0; i < n; ++i) {
        const ElfW(Sym)& s = some[i];
        if ((s.st_info & 0xf) != STT_FUNC || s.st_shndx == SHN_UNDEF) continue;
        if (address - s.st_value >= s.st_size) continue;
        *begin = s.st_value;
        return read_name(strings, s.st_name, name, size);
      }
    }
    return false;
  }

  bool read_name(const ElfW(Shdr) & strings, uint64_t at, char* name, size_t size) const {
    if (at >= strings.sh_size) return false;
    const uint64_t left = strings.sh_size - at;
    const ssize_t got = pread(file_, name, left < size - 1 ? left : size - 1,
                              static_cast<off_t>(strings.sh_offset + at));
    if (got <= 0) return false;
    name[got] = '\0';
    return name[0] != '\0';
  }

  int file_;
};

// What has the code at `code`, which is in `module`. The offset is that of `shown`.
void look_up(Origin& origin, const Module& module, uintptr_t code, uintptr_t shown) {
  origin.library = base_name(module.path);
  origin.path = module.path;
  origin.in_file = code - module.bias;
  origin.offset = shown - module.begin;
  Dl_info info;
  char name[512];
  uintptr_t begin;
  if (dladdr(reinterpret_cast<void*>(code), &info) != 0 && info.dli_sname != nullptr) {
    origin.function = demangled(info.dli_sname);
    origin.offset = shown - reinterpret_cast<uintptr_t>(info.dli_saddr);
  } else if (SymbolTable(module.path).find(origin.in_file, name, sizeof name, &begin)) {
    origin.function = demangled(name);
    origin.offset = shown - module.bias - begin;
  }
}

// What is known of a place in a file that has been unloaded, or in Python code.
Origin origin_of_gone(Place place) {
  Origin origin;
  const Module& was = *place.module;
  if (was.end == 0) {  // "FILE: FUNCTION (FILE:12)"
    origin.text = was.path;
    const size_t colon = origin.text.find(": ");
    origin.library = origin.text.substr(0, colon);
    if (colon != std::string::npos)
      origin.function = origin.text.substr(colon + 2, origin.text.find(' ', colon + 2) - colon - 2);
    return origin;
  }
  origin.library = base_name(was.path);
  origin.path = was.path;
  origin.offset = reinterpret_cast<uintptr_t>(place.address) - was.bias;
  origin.in_file = origin.offset - (place.is_call ? 1 : 0);
  origin.text =
      "library that was unloaded since, " + origin.path.substr(0, 300) + "+" + hex(origin.offset);
  return origin;
}

}  // namespace

Origin origin_of(Place place) {
  if (place.module != nullptr && module_at(place.address) != place.module)
    return origin_of_gone(place);
  Origin origin;
  const auto shown = reinterpret_cast<uintptr_t>(place.address);
  // Of the call before a return address, so that one that never returns isn't taken for the next
  // function.
  const uintptr_t code = shown - (place.is_call ? 1 : 0);
  if (const Module* const module = module_at(reinterpret_cast<void*>(code))) {
    look_up(origin, *module, code, shown);
  } else {
    origin.library = "?";
    origin.offset = shown;
  }
  origin.text = origin.library;
  if (!origin.function.empty()) origin.text += ": " + origin.function;
  if (origin.function.empty() || origin.offset != 0) origin.text += "+" + hex(origin.offset);
  return origin;
}

Located located(Place place) {
  Located made = {};
  const Origin origin = origin_of(place);
  copy_text(made.text, origin.text.c_str());
  copy_text(made.path, origin.path.c_str());
  made.in_file = origin.in_file;
  return made;
}

namespace {

struct Walk {
  const Module* attrcache;
  Place found;
  Place outside;  // the first caller outside of attrcache, for when all others are MPI's
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  const auto* address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  if (address == nullptr) return _URC_END_OF_STACK;
  const Module* const module = module_at(address);
  if (module != nullptr && module == walk.attrcache) return _URC_NO_REASON;
  const Place here = {address, module, true};
  if (walk.outside.address == nullptr) walk.outside = here;
  if (module != nullptr && module->is_mpi) return _URC_NO_REASON;
  walk.found = here;
  return _URC_END_OF_STACK;
}

}  // namespace

Place find_caller() {
  static const char here = 0;
  static const Module* const attrcache = module_at(&here);  // it is never unloaded
  Walk walk = {attrcache, {}, {}};
  _Unwind_Backtrace(look_at_frame, &walk);
  const Module* const python = python_code(walk.found.module);
  if (python != nullptr) return {python, python, true};
  return walk.found.address != nullptr ? walk.found : walk.outside;
}

}  // namespace attrcache::mpi
