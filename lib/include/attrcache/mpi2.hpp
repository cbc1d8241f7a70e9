// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The attribute functions of MPI-2's C++ bindings (MPI-2.2 section 6.7, the last standard that has
// them), for programs that use them and MPIs that dropped them in MPI-3. Header-only, over the C
// functions of whichever MPI the program is compiled with. It doesn't need attrcache; preload the
// interposer, and attrcache serves these, too.
//
//   #include "attrcache/mpi2.hpp"
//   namespace MPI = attrcache::mpi2;      // if <mpi.h> declares no such namespace
//
//   int MPI::Comm::Create_keyval(copy_fn, delete_fn, extra_state);
//   MPI::Comm(comm).Set_attr(keyval, &value);
//
// Comm, Datatype and Win are handles: they convert from and to MPI_Comm, MPI_Datatype and MPI_Win.
// The functions are as thread-safe as the MPI's.
//
// Errors go to the object's error handler first, as in C. If that returns, an Exception is thrown.
// Without exceptions (-fno-exceptions), errors are ignored, as by MPI-2's bindings under
// ERRORS_RETURN; Get_attr then returns false, and Create_keyval KEYVAL_INVALID. What a callback
// throws never reaches MPI: an Exception fails the MPI call with its code, anything else with
// MPI_ERR_OTHER.
//
// C callbacks call the C++ ones, which they find in a note, the C keyval's extra_state. MPI doesn't
// report when a keyval is gone, so notes are never freed; equal notes (the usual case) are shared.

#ifndef ATTRCACHE_MPI2_HPP_
#define ATTRCACHE_MPI2_HPP_

#include <mpi.h>

#include <mutex>

namespace attrcache::mpi2 {

inline constexpr int KEYVAL_INVALID = MPI_KEYVAL_INVALID;

class Exception {
 public:
  explicit Exception(int code) : code_(code) {
    int length = 0;
    if (MPI_Error_string(code, text_, &length) != MPI_SUCCESS) text_[0] = '\0';
  }
  int Get_error_code() const { return code_; }
  int Get_error_class() const {
    int error_class = MPI_ERR_UNKNOWN;
    MPI_Error_class(code_, &error_class);
    return error_class;
  }
  const char* Get_error_string() const { return text_; }

 private:
  int code_;
  char text_[MPI_MAX_ERROR_STRING] = {};
};

namespace detail {

inline bool check(int code) {
  if (code == MPI_SUCCESS) return true;
#if defined(__cpp_exceptions)
  throw Exception(code);
#else
  return false;
#endif
}

// Returns the code of a callback, whatever it throws.
template <typename Call>
int guarded(Call call) noexcept {
#if defined(__cpp_exceptions)
  try {
    return call();
  } catch (const Exception& e) {
    return e.Get_error_code() != MPI_SUCCESS ? e.Get_error_code() : MPI_ERR_OTHER;
  } catch (...) {
    return MPI_ERR_OTHER;
  }
#else
  return call();
#endif
}

// What the three have in common. `Self` is Comm, Datatype or Win; `C` has its C functions; `In` is
// the type of attribute_val_in, which is const for datatypes.
template <typename Self, typename C, typename In>
class Attributes {
 public:
  using Handle = typename C::Handle;
  using Copy_attr_function = int(const Self& oldobject, int keyval, void* extra_state,
                                 In attribute_val_in, void* attribute_val_out, bool& flag);
  using Delete_attr_function = int(Self& object, int keyval, void* attribute_val,
                                   void* extra_state);

  Attributes(Handle handle) : handle_(handle) {}
  operator Handle() const { return handle_; }

  static int NULL_COPY_FN(const Self&, int, void*, In, void*, bool& flag) {
    flag = false;
    return MPI_SUCCESS;
  }
  static int DUP_FN(const Self&, int, void*, In in, void* out, bool& flag) {
    *static_cast<void**>(out) = const_cast<void*>(in);
    flag = true;
    return MPI_SUCCESS;
  }
  static int NULL_DELETE_FN(Self&, int, void*, void*) { return MPI_SUCCESS; }

  // Null pointers mean NULL_COPY_FN and NULL_DELETE_FN. Those and DUP_FN become MPI's own, which
  // cost no call.
  static int Create_keyval(Copy_attr_function* copy, Delete_attr_function* remove,
                           void* extra_state) {
    auto* copy_in_c = copy == nullptr || copy == NULL_COPY_FN ? C::null_copy()
                      : copy == DUP_FN                        ? C::dup()
                                                              : run_copy;
    auto* remove_in_c =
        remove == nullptr || remove == NULL_DELETE_FN ? C::null_delete() : run_delete;
    const bool needs_note = copy_in_c == run_copy || remove_in_c == run_delete;
    int keyval = KEYVAL_INVALID;
    check(C::create(copy_in_c, remove_in_c, &keyval,
                    needs_note ? note_of(copy, remove, extra_state) : nullptr));
    return keyval;
  }

  static void Free_keyval(int& keyval) { check(C::free(&keyval)); }

  void Set_attr(int keyval, const void* attribute_val) const {
    check(C::set(handle_, keyval, const_cast<void*>(attribute_val)));
  }

  // `attribute_val` is the address of a pointer.
  bool Get_attr(int keyval, void* attribute_val) const {
    int flag = 0;
    return check(C::get(handle_, keyval, attribute_val, &flag)) && flag != 0;
  }

  // const, unlike MPI-2's, so that it can be called on temporaries and const handles.
  void Delete_attr(int keyval) const { check(C::remove(handle_, keyval)); }

 private:
  struct Note {
    Copy_attr_function* copy;
    Delete_attr_function* remove;
    void* extra_state;
    const Note* next;
  };

  // Never freed, and reachable from here: objects may still end while the process ends.
  static Note* note_of(Copy_attr_function* copy, Delete_attr_function* remove, void* extra_state) {
    static std::mutex mutex;
    static Note* notes = nullptr;
    const std::lock_guard<std::mutex> lock(mutex);
    for (Note* n = notes; n != nullptr; n = const_cast<Note*>(n->next)) {
      if (n->copy == copy && n->remove == remove && n->extra_state == extra_state) return n;
    }
    return notes = new Note{copy, remove, extra_state, notes};
  }

  static int run_copy(Handle old, int keyval, void* extra_state, void* in, void* out, int* flag) {
    return guarded([&] {
      const Note& note = *static_cast<Note*>(extra_state);
      bool copied = false;
      const int code = note.copy(Self(old), keyval, note.extra_state, in, out, copied);
      *flag = copied;
      return code;
    });
  }

  static int run_delete(Handle object, int keyval, void* value, void* extra_state) {
    return guarded([&] {
      const Note& note = *static_cast<Note*>(extra_state);
      Self self(object);
      return note.remove(self, keyval, value, note.extra_state);
    });
  }

  Handle handle_;
};

#define ATTRCACHE_MPI2_IN_C(Name, Type, Class, CLASS)                                           \
  struct Name {                                                                                 \
    using Handle = Type;                                                                        \
    static constexpr auto* create = &MPI_##Class##_create_keyval;                               \
    static constexpr auto* free = &MPI_##Class##_free_keyval;                                   \
    static constexpr auto* set = &MPI_##Class##_set_attr;                                       \
    static constexpr auto* get = &MPI_##Class##_get_attr;                                       \
    static constexpr auto* remove = &MPI_##Class##_delete_attr;                                 \
    static MPI_##Class##_copy_attr_function* null_copy() { return MPI_##CLASS##_NULL_COPY_FN; } \
    static MPI_##Class##_copy_attr_function* dup() { return MPI_##CLASS##_DUP_FN; }             \
    static MPI_##Class##_delete_attr_function* null_delete() {                                  \
      return MPI_##CLASS##_NULL_DELETE_FN;                                                      \
    }                                                                                           \
  }
ATTRCACHE_MPI2_IN_C(CommInC, MPI_Comm, Comm, COMM);
ATTRCACHE_MPI2_IN_C(DatatypeInC, MPI_Datatype, Type, TYPE);
ATTRCACHE_MPI2_IN_C(WinInC, MPI_Win, Win, WIN);
#undef ATTRCACHE_MPI2_IN_C

}  // namespace detail

class Comm : public detail::Attributes<Comm, detail::CommInC, void*> {
 public:
  Comm(MPI_Comm comm = MPI_COMM_NULL) : Attributes(comm) {}
};

class Datatype : public detail::Attributes<Datatype, detail::DatatypeInC, const void*> {
 public:
  Datatype(MPI_Datatype type = MPI_DATATYPE_NULL) : Attributes(type) {}
};

class Win : public detail::Attributes<Win, detail::WinInC, void*> {
 public:
  Win(MPI_Win win = MPI_WIN_NULL) : Attributes(win) {}
};

}  // namespace attrcache::mpi2

#endif  // ATTRCACHE_MPI2_HPP_
