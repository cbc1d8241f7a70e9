// SPDX-License-Identifier: Apache-2.0
//
// The objects that have an anchor: so that the end of the program can tell what is still attached,
// and to what.

#ifndef ATTRCACHE_MPI_REPORT_OBJECTS_H_
#define ATTRCACHE_MPI_REPORT_OBJECTS_H_

#include <functional>
#include <string>

#include "attrcache/attrcache.h"

namespace attrcache::mpi::report {

// An object got its anchor, which begins with its table.
void appeared(int kind, const void* anchor);
// Its handle, as attrcache has it (facts::to_object).
void known_as(int kind, const void* anchor, void* object);
// One with the anchor `anchor` and the table `table` was made by a dup of `old_object`.
void duplicated(int kind, void* old_object, const void* anchor, attrcache_kind* registry,
                const attrcache_table* table);
// An object is being freed, with what is in its table; and is gone.
void ends(int kind, attrcache_kind* registry, const attrcache_table* table);
void ended(const void* anchor);

struct Object {
  int kind = 0;
  std::string name;         // as MPI_*_get_name says, or what else is known
  bool predefined = false;  // nobody can free it
  // MPI_Finalize deletes its attributes yet: MPI_COMM_WORLD's and predefined datatypes', on some.
  bool deleted_by_finalize = false;
};

// Visits what is attached to all objects that there are. `ask`: whether MPI may be asked for names.
void for_each_attached(bool ask, const std::function<void(const Object&, int keyval)>& visit);

// The name that MPI has for an object; empty if none.
std::string name_of(int kind, void* object);

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_OBJECTS_H_
