// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The functions that make objects, each overridden so that the report can say which places make
// objects and don't free them. Without a report a call is only passed on. (MPI_Comm_spawn is in
// init.cc. Not counted: what sessions and the functions of large counts make.)

#include "mpi/recording/made.h"

#include "mpi/native/entry.h"
#include "mpi/native/native.h"
#include "mpi/objects/process.h"

namespace attrcache::mpi {
namespace {

template <typename Kind>
int constructed(int code, typename Kind::Handle* made) {
  if (counting() && code == MPI_SUCCESS && made != nullptr && !is_null<Kind>(*made))
    report::object_made(Kind::kNumber, facts::to_key(*made));
  return code;
}

}  // namespace

extern "C" {

#define ATTRCACHE_MAKES(kind, name, parameters, arguments) \
  ATTRCACHE_OVERRIDE(name, parameters, { return constructed<kind>(next arguments, made); })

ATTRCACHE_MAKES(Communicator, Comm_dup, (MPI_Comm a, MPI_Comm* made), (a, made))
ATTRCACHE_MAKES(Communicator, Comm_dup_with_info, (MPI_Comm a, MPI_Info b, MPI_Comm* made),
                (a, b, made))
ATTRCACHE_MAKES(Communicator, Comm_idup, (MPI_Comm a, MPI_Comm* made, MPI_Request* b), (a, made, b))
#if !defined(ATTRCACHE_OPENMPI) && MPI_VERSION >= 4  // Open MPI 4 doesn't have it
ATTRCACHE_MAKES(Communicator, Comm_idup_with_info,
                (MPI_Comm a, MPI_Info b, MPI_Comm* made, MPI_Request* c), (a, b, made, c))
#endif
ATTRCACHE_MAKES(Communicator, Comm_create, (MPI_Comm a, MPI_Group b, MPI_Comm* made), (a, b, made))
ATTRCACHE_MAKES(Communicator, Comm_create_group, (MPI_Comm a, MPI_Group b, int c, MPI_Comm* made),
                (a, b, c, made))
ATTRCACHE_MAKES(Communicator, Comm_split, (MPI_Comm a, int b, int c, MPI_Comm* made),
                (a, b, c, made))
ATTRCACHE_MAKES(Communicator, Comm_split_type,
                (MPI_Comm a, int b, int c, MPI_Info d, MPI_Comm* made), (a, b, c, d, made))
ATTRCACHE_MAKES(Communicator, Cart_create,
                (MPI_Comm a, int b, const int* c, const int* d, int e, MPI_Comm* made),
                (a, b, c, d, e, made))
ATTRCACHE_MAKES(Communicator, Cart_sub, (MPI_Comm a, const int* b, MPI_Comm* made), (a, b, made))
ATTRCACHE_MAKES(Communicator, Graph_create,
                (MPI_Comm a, int b, const int* c, const int* d, int e, MPI_Comm* made),
                (a, b, c, d, e, made))
ATTRCACHE_MAKES(Communicator, Dist_graph_create,
                (MPI_Comm a, int b, const int* c, const int* d, const int* e, const int* f,
                 MPI_Info g, int h, MPI_Comm* made),
                (a, b, c, d, e, f, g, h, made))
ATTRCACHE_MAKES(Communicator, Dist_graph_create_adjacent,
                (MPI_Comm a, int b, const int* c, const int* d, int e, const int* f, const int* g,
                 MPI_Info h, int i, MPI_Comm* made),
                (a, b, c, d, e, f, g, h, i, made))
ATTRCACHE_MAKES(Communicator, Intercomm_create,
                (MPI_Comm a, int b, MPI_Comm c, int d, int e, MPI_Comm* made),
                (a, b, c, d, e, made))
ATTRCACHE_MAKES(Communicator, Intercomm_merge, (MPI_Comm a, int b, MPI_Comm* made), (a, b, made))
ATTRCACHE_MAKES(Communicator, Comm_accept,
                (const char* a, MPI_Info b, int c, MPI_Comm d, MPI_Comm* made), (a, b, c, d, made))
ATTRCACHE_MAKES(Communicator, Comm_connect,
                (const char* a, MPI_Info b, int c, MPI_Comm d, MPI_Comm* made), (a, b, c, d, made))
ATTRCACHE_MAKES(Communicator, Comm_join, (int a, MPI_Comm* made), (a, made))
ATTRCACHE_MAKES(Datatype, Type_dup, (MPI_Datatype a, MPI_Datatype* made), (a, made))
ATTRCACHE_MAKES(Datatype, Type_contiguous, (int a, MPI_Datatype b, MPI_Datatype* made),
                (a, b, made))
ATTRCACHE_MAKES(Datatype, Type_vector, (int a, int b, int c, MPI_Datatype d, MPI_Datatype* made),
                (a, b, c, d, made))
ATTRCACHE_MAKES(Datatype, Type_create_hvector,
                (int a, int b, MPI_Aint c, MPI_Datatype d, MPI_Datatype* made), (a, b, c, d, made))
ATTRCACHE_MAKES(Datatype, Type_indexed,
                (int a, const int* b, const int* c, MPI_Datatype d, MPI_Datatype* made),
                (a, b, c, d, made))
ATTRCACHE_MAKES(Datatype, Type_create_hindexed,
                (int a, const int* b, const MPI_Aint* c, MPI_Datatype d, MPI_Datatype* made),
                (a, b, c, d, made))
ATTRCACHE_MAKES(Datatype, Type_create_indexed_block,
                (int a, int b, const int* c, MPI_Datatype d, MPI_Datatype* made),
                (a, b, c, d, made))
ATTRCACHE_MAKES(Datatype, Type_create_hindexed_block,
                (int a, int b, const MPI_Aint* c, MPI_Datatype d, MPI_Datatype* made),
                (a, b, c, d, made))
ATTRCACHE_MAKES(Datatype, Type_create_struct,
                (int a, const int* b, const MPI_Aint* c, const MPI_Datatype* d, MPI_Datatype* made),
                (a, b, c, d, made))
ATTRCACHE_MAKES(Datatype, Type_create_resized,
                (MPI_Datatype a, MPI_Aint b, MPI_Aint c, MPI_Datatype* made), (a, b, c, made))
ATTRCACHE_MAKES(Datatype, Type_create_subarray,
                (int a, const int* b, const int* c, const int* d, int e, MPI_Datatype f,
                 MPI_Datatype* made),
                (a, b, c, d, e, f, made))
ATTRCACHE_MAKES(Datatype, Type_create_darray,
                (int a, int b, int c, const int* d, const int* e, const int* f, const int* g, int h,
                 MPI_Datatype i, MPI_Datatype* made),
                (a, b, c, d, e, f, g, h, i, made))
ATTRCACHE_MAKES(Window, Win_create,
                (void* a, MPI_Aint b, int c, MPI_Info d, MPI_Comm e, MPI_Win* made),
                (a, b, c, d, e, made))
ATTRCACHE_MAKES(Window, Win_allocate,
                (MPI_Aint a, int b, MPI_Info c, MPI_Comm d, void* e, MPI_Win* made),
                (a, b, c, d, e, made))
ATTRCACHE_MAKES(Window, Win_allocate_shared,
                (MPI_Aint a, int b, MPI_Info c, MPI_Comm d, void* e, MPI_Win* made),
                (a, b, c, d, e, made))
ATTRCACHE_MAKES(Window, Win_create_dynamic, (MPI_Info a, MPI_Comm b, MPI_Win* made), (a, b, made))

}  // extern "C"

}  // namespace attrcache::mpi
