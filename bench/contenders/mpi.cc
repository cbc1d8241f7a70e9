// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The MPI library that the program is linked with: natively, or served by attrcache if its
// interposer is preloaded.
//
//   --level=single|multiple   the thread level to ask for; the default is multiple

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>

#include <cstring>
#include <string>

#include "bench/harness/describe.h"

namespace {

struct Mpi {
  struct Object {
    MPI_Comm comm = MPI_COMM_NULL;
    Object() { MPI_Comm_dup(MPI_COMM_SELF, &comm); }
    ~Object() { MPI_Comm_free(&comm); }
  };
  static constexpr bool kDearObjects = true;

  static MPI_Comm handle(Object& object) { return object.comm; }
  static bool create_key(int* key) {
    return MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, nullptr) ==
           MPI_SUCCESS;
  }
  static bool create_calling_key(int* key) {
    MPI_Comm_delete_attr_function* const nothing = [](MPI_Comm, int, void*, void*) { return 0; };
    return MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, nothing, key, nullptr) == MPI_SUCCESS;
  }
  static bool free_key(int* key) { return MPI_Comm_free_keyval(key) == MPI_SUCCESS; }
  static bool get(MPI_Comm comm, int key, void** value) {
    int flag;
    return MPI_Comm_get_attr(comm, key, value, &flag) == MPI_SUCCESS && flag != 0;
  }
  static bool set(MPI_Comm comm, int key, void* value) {
    return MPI_Comm_set_attr(comm, key, value) == MPI_SUCCESS;
  }
  static bool erase(MPI_Comm comm, int key) {
    return MPI_Comm_delete_attr(comm, key) == MPI_SUCCESS;
  }
  static bool dup_free(MPI_Comm comm) {
    MPI_Comm copy;
    return MPI_Comm_dup(comm, &copy) == MPI_SUCCESS && MPI_Comm_free(&copy) == MPI_SUCCESS;
  }
  static MPI_Comm predefined(int* key) {
    *key = MPI_TAG_UB;
    return MPI_COMM_WORLD;
  }
};

// Whether attrcache serves this process: the function then comes from its library.
bool served() {
  Dl_info found = {};
  dladdr(reinterpret_cast<void*>(MPI_Comm_get_attr), &found);
  return found.dli_fname != nullptr && std::strstr(found.dli_fname, "attrcache_") != nullptr;
}

#ifdef OPEN_MPI
constexpr const char* kName = "openmpi";
#else
constexpr const char* kName = "mpich";
#endif

bool take_argument(int* argc, char** argv, const std::string& argument) {
  for (int i = 1; i < *argc; ++i) {
    if (argv[i] != argument) continue;
    for (--*argc; i <= *argc; ++i) argv[i] = argv[i + 1];
    return true;
  }
  return false;
}

}  // namespace

bench::Contender bench::make_contender(int* argc, char** argv) {
  const bool single = take_argument(argc, argv, "--level=single");
  take_argument(argc, argv, "--level=multiple");
  const int wanted = single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
  int level;
  MPI_Init_thread(argc, &argv, wanted, &level);
  require(level == wanted, "get the thread level");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const char* const how = served() ? "_served" : "_native";

  Limits limits;
  if (single) limits.threads = 1;
  limits.share_writes = served();  // natively, sets by several threads crash or hang
  const std::string name = std::string(kName) + how + (single ? "_single" : "_multiple");
  Contender contender = describe<Mpi>(name, limits);
  contender.end = [] {
    Keys<Mpi>::free_all();
    MPI_Finalize();
  };
  return contender;
}
