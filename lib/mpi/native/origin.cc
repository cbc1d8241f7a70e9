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

void name_function(Origin& origin, const char* symbol) {
  int status = 0;
  char* demangled = std::strncmp(symbol, "_Z", 2) == 0
                        ? abi::__cxa_demangle(symbol, nullptr, nullptr, &status)
                        : nullptr;
  copy_text(origin.function, demangled != nullptr ? demangled : symbol);
  std::free(demangled);
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

// `code` decides which function it is. The offset is that of `shown`.
Origin find_origin(uintptr_t code, uintptr_t shown) {
  Origin origin = {};
  const Module* const module = module_at(reinterpret_cast<void*>(code));
  if (module == nullptr) {
    copy_text(origin.library, "?");
    origin.offset = shown;
    return origin;
  }
  copy_text(origin.library, base_name(module->path));
  copy_text(origin.path, module->path);
  origin.in_file = code - module->bias;
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(code), &info) != 0 && info.dli_sname != nullptr) {
    name_function(origin, info.dli_sname);
    origin.offset = shown - reinterpret_cast<uintptr_t>(info.dli_saddr);
    return origin;
  }
  char name[512];
  uintptr_t begin;
  if (SymbolTable(module->path).find(origin.in_file, name, sizeof name, &begin)) {
    name_function(origin, name);
    origin.offset = shown - module->bias - begin;
    return origin;
  }
  origin.offset = shown - module->begin;
  return origin;
}

}  // namespace

Origin origin_of_code(const void* code) {
  const auto address = reinterpret_cast<uintptr_t>(code);
  return find_origin(address, address);
}

Origin origin_of_call(const void* return_address) {
  const auto address = reinterpret_cast<uintptr_t>(return_address);
  return find_origin(address - 1, address);
}

OriginText to_text(const Origin& origin) {
  OriginText t;
  if (origin.function[0] == '\0') {
    std::snprintf(t.text, sizeof t.text, "%s+%#zx", origin.library, size_t{origin.offset});
  } else if (origin.offset == 0) {
    std::snprintf(t.text, sizeof t.text, "%s: %s", origin.library, origin.function);
  } else {
    std::snprintf(t.text, sizeof t.text, "%s: %s+%#zx", origin.library, origin.function,
                  size_t{origin.offset});
  }
  return t;
}

OriginText name_of(Place place, Origin* origin) {
  const Module* const was = place.module;
  if (was == nullptr || module_at(place.address) == was) {
    *origin = place.is_call ? origin_of_call(place.address) : origin_of_code(place.address);
    return to_text(*origin);
  }
  *origin = {};
  OriginText t;
  if (was->end == 0) {  // "FILE: FUNCTION (FILE:12)"
    copy_text(t.text, was->path);
    std::sscanf(t.text, "%63[^:]: %255[^ ]", origin->library, origin->function);
    return t;
  }
  copy_text(origin->library, base_name(was->path));
  copy_text(origin->path, was->path);
  origin->offset = reinterpret_cast<uintptr_t>(place.address) - was->bias;
  origin->in_file = origin->offset - (place.is_call ? 1 : 0);
  std::snprintf(t.text, sizeof t.text, "library that was unloaded since, %.300s+%#zx", was->path,
                size_t{origin->offset});
  return t;
}

Located located(Place place) {
  Located made = {};
  Origin origin;
  std::memcpy(made.text, name_of(place, &origin).text, sizeof made.text);
  std::memcpy(made.path, origin.path, sizeof made.path);
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
