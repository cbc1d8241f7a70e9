// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/serving/unanchored.h"

#include <cstdlib>

#include "mpi/native/errors.h"
#include "mpi/native/native.h"
#include "mpi/recording/living.h"
#include "mpi/recording/trace.h"
#include "mpi/serving/anchor_callbacks.h"

namespace attrcache::mpi {
namespace {

// A function of MPI, looked up when it is first needed: a version without sessions has none of
// them.
template <typename Function>
Function* native_function(const char* name) {
  Function* found;
  resolve(found, name);
  return found;
}

// Calls a function that looks at the handle and changes nothing.
int show_to_mpi(Session, facts::SessionHandle session) {
  static auto* const get =
      native_function<int(facts::SessionHandle, MPI_Errhandler*)>("PMPI_Session_get_errhandler");
  static auto* const free = native_function<int(MPI_Errhandler*)>("PMPI_Errhandler_free");
  MPI_Errhandler handler;
  const int code = get(session, &handler);
  if (code == MPI_SUCCESS) free(&handler);
  return code;
}
int show_to_mpi(File, MPI_File file) {
  static auto* const get = native_function<int(MPI_File, int*)>("PMPI_File_get_amode");
  int mode;
  // In MPICH 5.0's library of the standard ABI all functions of files but the one called here crash
  // if they get MPI_FILE_NULL. In Open MPI that one refuses it.
  if (facts::kStandardAbi && file == MPI_FILE_NULL && behaviour().natively == &MisuseText::mpich) {
    return raise_on<File>(file, MPI_ERR_FILE);
  }
  return get(file, &mode);
}

const char* name_of_raise(Session) { return "PMPI_Session_call_errhandler"; }
const char* name_of_raise(File) { return "PMPI_File_call_errhandler"; }

template <typename Kind>
int end_object(typename Kind::Handle handle) {
  const uintptr_t key = facts::to_key(handle);
  Anchor* const anchor = find_anchor<Kind>(handle);
  if (anchor == nullptr) return MPI_SUCCESS;
  int code = 0;
  int result;
  {
    const report::Operation operation(report::What::kFree, Kind::kNumber, ATTRCACHE_KEYVAL_INVALID);
    report::ends(Kind::kNumber, anchor);
    result = attrcache_delete_all(kind_of<Kind>(), &anchor->table, facts::to_object(handle),
                                  ATTRCACHE_DRAIN_FINALLY, &code);
  }
  // If the map doesn't have it any more, a callback has ended the object, and the table with it.
  if (objects<Kind>.find(key) == anchor) {
    objects<Kind>.erase(key);
    report::ended(anchor);
    delete_anchor(anchor);
  }
  return result == ATTRCACHE_OK ? MPI_SUCCESS : raise_on<Kind>(handle, failure(result, code));
}

void end_files(int* first_failure) {
  // Callbacks may go on setting attributes on other files, though not for ever.
  for (size_t most = 16 * objects<File>.size(); most > 0 && objects<File>.size() != 0; --most) {
    uintptr_t key = 0;
    objects<File>.for_each([&key](uintptr_t of, void*) { key = of; });
    const int code = end_object<File>(facts::from_key<MPI_File>(key));
    if (*first_failure == MPI_SUCCESS) *first_failure = code;
  }
}

// Deletes the attributes of a session that may go on, and be in use by other threads: so its table
// stays, and so does a value whose callback fails. Returns the first failure.
int empty_session(Session::Handle session, Anchor* anchor) {
  int first = MPI_SUCCESS;
  const auto attributes = report::attributes(Session::kNumber, anchor);
  // A callback or another thread may end the session meanwhile.
  for (size_t i = attributes.size(); i-- > 0 && find_anchor<Session>(session) == anchor;) {
    int code = 0;
    const int result = attrcache_delete(kind_of<Session>(), &anchor->table,
                                        facts::to_object(session), attributes[i].keyval, &code);
    if (result < ATTRCACHE_OK && first == MPI_SUCCESS) first = error_code(result, code);
  }
  return first;
}

// They are listed first, since callbacks may begin and end some.
void empty_sessions(int* first_failure) {
  const size_t room = objects<Session>.size();
  if (room == 0) return;
  auto* const keys = static_cast<uintptr_t*>(std::malloc(room * sizeof(uintptr_t)));
  if (keys == nullptr) {
    if (*first_failure == MPI_SUCCESS) *first_failure = MPI_ERR_NO_MEM;
    return;
  }
  size_t count = 0;
  objects<Session>.for_each([&](uintptr_t key, void*) {
    if (count < room) keys[count++] = key;
  });
  for (size_t i = 0; i < count; ++i) {
    const auto session = facts::from_key<Session::Handle>(keys[i]);
    Anchor* const anchor = find_anchor<Session>(session);
    if (anchor == nullptr) continue;
    report::ends(Session::kNumber, anchor);
    const int code = empty_session(session, anchor);
    if (code == MPI_SUCCESS) continue;
    raise_on<Session>(session, code);
    if (*first_failure == MPI_SUCCESS) *first_failure = code;
  }
  std::free(keys);
}

}  // namespace

template <typename Kind>
int raise_on(typename Kind::Handle handle, int code) {
  static auto* const call = native_function<int(typename Kind::Handle, int)>(name_of_raise(Kind{}));
  call(handle, code);
  return code;
}

template <Unanchored Kind>
int touch(typename Kind::Handle handle, Attach if_none, Anchor** found) {
  *found = nullptr;
  if (process() == nullptr) return raise_on<Kind>(handle, MPI_ERR_KEYVAL);
  const int code = show_to_mpi(Kind{}, handle);
  if (code != MPI_SUCCESS || if_none == Attach::kNo) return code;
  Anchor* const made = new_anchor();
  if (made != nullptr) {
    *found = static_cast<Anchor*>(objects<Kind>.insert(facts::to_key(handle), made));
    if (*found != made) {
      delete_anchor(made);
    } else {
      count(counts.objects);
      report::known_as(Kind::kNumber, made, facts::to_object(handle));
    }
  }
  return *found != nullptr ? MPI_SUCCESS : raise_on<Kind>(handle, MPI_ERR_NO_MEM);
}

template <typename Kind>
int end_unanchored(typename Kind::Handle* handle) {
  return handle == nullptr || process() == nullptr ? MPI_SUCCESS : end_object<Kind>(*handle);
}

int end_all_unanchored() {
  int first_failure = MPI_SUCCESS;
  end_files(&first_failure);
  empty_sessions(&first_failure);
  return first_failure;
}

#define ATTRCACHE_UNANCHORED(Kind)                          \
  template int raise_on<Kind>(Kind::Handle, int);           \
  template int touch<Kind>(Kind::Handle, Attach, Anchor**); \
  template int end_unanchored<Kind>(Kind::Handle*);
ATTRCACHE_UNANCHORED(Session)
ATTRCACHE_UNANCHORED(File)
#undef ATTRCACHE_UNANCHORED

}  // namespace attrcache::mpi
