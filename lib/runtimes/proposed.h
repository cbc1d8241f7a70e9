/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * attrcache/mpix.h in an MPI that has attrcache inside: attributes on sessions and files, keyvals
 * with destructors, and set_attr_if_absent. The same file for all MPIs; an MPI calls these functions at four
 * places.
 *
 * The tables aren't in the objects, as those of communicators are, but in a list: sessions and
 * files are few, and are made and ended by code that knows nothing of attributes (a file by ROMIO).
 * An MPI that adopts this puts them into the objects.
 */
#ifndef ATTRCACHE_RUNTIMES_PROPOSED_H_
#define ATTRCACHE_RUNTIMES_PROPOSED_H_

/* In Open MPI from 6.0 on, they are called from another library than the one they are in. */
#ifdef OMPI_DECLSPEC
#pragma GCC visibility push(default)
#else
#pragma GCC visibility push(hidden)
#endif

/* MPI_Comm_get_attr and its kin find an object's attribute table under this keyval, which is
 * predefined, and none of any MPI's own. */
enum { ATTRCACHE_PROPOSED_TABLE = 0x7fa77000 };

/* Call this when the domain has been made. Returns a result of attrcache's. */
struct attrcache_domain;
int attrcache_proposed_begin(struct attrcache_domain* domain);

/* Delete the attributes of the object with this handle. To be called before MPI_Session_finalize or
 * MPI_File_close ends it, with no lock of MPI's held. Return MPI_SUCCESS, or the first failure,
 * which has been raised: MPI's function must still end the object, and then return that code. */
int attrcache_proposed_end_session(const void* handle);
int attrcache_proposed_end_file(const void* handle);

/* In MPI_Finalize, after the attributes of MPI_COMM_SELF, while MPI still works: the same for all
 * files that are left. Sessions that are left lose the attributes that they have then; they may go
 * on, and be in use by other threads. */
int attrcache_proposed_end_all(void);

#pragma GCC visibility pop

#endif /* ATTRCACHE_RUNTIMES_PROPOSED_H_ */
