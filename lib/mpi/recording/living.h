// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Keeps a list of the objects that have an anchor, where operations are counted. At the end of the
// program the report can thus say what is still attached, and to what.

#ifndef ATTRCACHE_MPI_RECORDING_LIVING_H_
#define ATTRCACHE_MPI_RECORDING_LIVING_H_

#include <functional>
#include <string>
#include <vector>

#include "attrcache/attrcache.h"

namespace attrcache::mpi::report {

// An object got its anchor, its handle became known, or it has not been freed after all (ends). The
// handle is given as by facts::to_object. (An anchor begins with its table.)
void known_as(int kind, const void* anchor, void* object);
// A dup of `old_object` has made an object with that anchor.
void duplicated(int kind, void* old_object, const void* anchor);
// ends() says that an object is about to be freed with what is in its table, and ended() that it
// has been freed.
void ends(int kind, const void* anchor);
void ended(const void* anchor);

struct Object {
  int kind = 0;
  std::string name;         // as MPI_*_get_name says, or what else is known
  bool predefined = false;  // no call can free it
  // Whether MPI_Finalize will still delete its attributes. On some MPIs it does that for
  // MPI_COMM_WORLD and predefined datatypes.
  bool deleted_by_finalize = false;
};

// Visits all attributes of all objects. `ask` says whether MPI may be asked for names.
void for_each_attached(bool ask, const std::function<void(const Object&, int keyval)>& visit);

// The attributes of an object, in the order in which they were set.
std::vector<attrcache_attribute_info> attributes(int kind, const void* anchor);

// The name that MPI has for an object. Empty if it has none.
std::string name_of(int kind, void* object);

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_RECORDING_LIVING_H_
