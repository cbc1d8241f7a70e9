/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * attrcache: a lock-free concurrent attribute cache for MPI runtimes and their like. The C API.
 *
 * Sources, as cited below, all in MPI-4.1: [C] section 7.7, caching (MPI-1.1 5.7, MPI-2.2 6.7); [L]
 * 19.3.7, attributes between languages (MPI-2 4.12.7); [F] 11.2.4, user functions at finalization
 * (MPI-2.2 8.7.1).
 *
 * The nouns
 *   domain   one independent caching universe. Nothing is shared between two domains.
 *   kind     a sort of object that attributes are attached to (communicator, datatype, window, or
 *            one that the runtime registers). A keyval of one kind is an error on another.
 *   table    what the runtime embeds, by value, in each of its objects.
 *   keyval   an int that names an attribute on every object of its kind.
 *   object   the runtime's own handle of the object. The library hands it to callbacks and does
 *            nothing else with it.
 *
 * A first example
 *
 *   struct comm { int size; attrcache_table attributes; } comm = {0};     zeroed: an empty table
 *   attrcache_domain* domain;
 *   attrcache_domain_create(NULL, &domain);
 *   attrcache_kind* comms = attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR);
 *
 *   attrcache_callbacks callbacks = {.size = sizeof callbacks,
 *                                    .delete_fn = (attrcache_callback*)delete_plan};
 *   int plan_key;
 *   attrcache_keyval_create(comms, &callbacks, &plan_key);
 *   attrcache_set(comms, &comm.attributes, &comm, plan_key, (intptr_t)make_plan(),
 *                 ATTRCACHE_AS_POINTER, NULL);
 *   void* plan;
 *   if (attrcache_get(comms, &comm.attributes, plan_key, &plan) == ATTRCACHE_OK) follow(plan);
 *   attrcache_delete_all(comms, &comm.attributes, &comm, ATTRCACHE_STOP_AT_FAILURE, NULL);
 *   attrcache_keyval_free(comms, &plan_key);
 *   attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, NULL);
 *
 * When not to use it
 *   - What every object has, and you know when you write its struct, is a member of the struct.
 *   - Where one thread uses all objects, or a lock of yours is held anyway, an array of values that
 *     the key indexes costs less: it needs no atomic instruction to set and delete.
 *   - Keys that come from outside (strings, addresses) need a map: here keyvals are handed out.
 *   - A table takes 64 bytes in each object, which is much where there are millions of small ones.
 *
 * Rules for all functions
 *
 * Results: ATTRCACHE_OK is 0, ATTRCACHE_ABSENT 1; everything above is an error. A call that returns
 * an error has changed nothing, unless its description says otherwise. The library needs no C++
 * runtime and throws nothing.
 *
 * Structs that callers fill say first how large they are (`size`), so that later versions can add
 * members: C callers write {.size = sizeof options, ...}, and in C++ it is so by itself. Members
 * that a caller doesn't know are taken as zero; what this library doesn't know must be zero
 * (UNSUPPORTED). 0 stands for the size that the struct has in version 1.0.
 *
 * Threads: any function may be called by any thread at any time, on any object. The exceptions: once
 * a table's owner frees the object (attrcache_delete_all, attrcache_table_abandon), nobody else may
 * begin to use that table; a domain may be destroyed only when nobody uses it any more; and
 * attrcache_keyval_set_callbacks may be called only by the thread that has made the keyval, before it
 * publishes it.
 *
 * Callbacks: run synchronously, on the calling thread, with no lock held and no epoch pinned: they
 * may call anything here, on any object, the one being served included. They must return: what
 * happens if a callback is left by longjmp, by the end of its thread, or by an exception that the
 * domain's catch_exceptions doesn't catch, is undefined. (The C++ API, mpi2.hpp and the interposers
 * catch the exceptions of their users' callbacks.)
 *
 * Nobody waits. No call ever waits for another thread: not for its callback, its copy, its borrow or
 * its set, nor for it to be scheduled. There is no lock, no sleep, and no error about a deadlock. A
 * thread that is stopped, at any instruction, for ever, keeps nobody else's call from ending. What it
 * holds, or was about to delete, isn't deleted meanwhile, and the object that its call is about can't
 * be freed (BUSY): that is all. The exceptions are processors with steps of 8 bytes (below), and an
 * owner who gives up a table while others are still inside a call on it, which the rule for threads
 * forbids (attrcache_table_abandon, ATTRCACHE_DRAIN_FINALLY).
 *
 * Progress: is stated per function. "Lock-free" is meant apart from the callbacks that it runs, and
 * the allocator. "Wait-free" holds where the processor adds in one step (x86-64, s390x, AArch64 with
 * LSE). How many steps a 16-byte access takes depends on the processor and on the build;
 * attrcache_platform() says which it is:
 *   read in one step         get is wait-free. x86-64 with AVX; s390x; AArch64 built with
 *                            -DATTRCACHE_LSE2, but for one load barrier.
 *   read in two steps,       get is lock-free. x86-64 built with -DATTRCACHE_PAIR_TWO_STEP; other
 *   exchanged in one         AArch64; POWER8 and later.
 *   steps of 8 bytes         get is lock-free, but waits for a thread that is just replacing a value
 *                            in the same slot by one with another tag (an Aint over a C pointer,
 *                            say); so it is not for signal handlers that may interrupt such a set.
 *                            All other functions that use a slot wait for a thread that is just
 *                            storing a value in it: one that is stopped there, between three stores,
 *                            stops them. RISC-V, i386, 32-bit ARM, all others; and any, built with
 *                            -DATTRCACHE_PAIR_TWO_WORDS or -fsanitize=thread.
 *
 * Who deletes. Every value that was attached under a keyval with a delete_fn is deleted (delete_fn
 * called) exactly once, unless it is still attached, or a failed call handed it back. While a thread
 * holds a value, by a borrow or because its copy_fn reads it, delete_fn of that value doesn't run.
 *   A delete or set of a value that nobody holds runs delete_fn, at once, on the calling thread.
 *   If others hold it, the call detaches or replaces it, and succeeds at once. The last holder to let
 *   go runs delete_fn: in its attrcache_give_back, or when its copy_fn has returned. Its failure has
 *   nobody to be told to; the value is gone. extra_state must live until the keyval's destructor
 *   says otherwise, and delete_fn must not use the object if that may be freed meanwhile.
 *   So it is, too, for a thread that deletes what it has itself borrowed: its last give_back runs
 *   delete_fn. But a copy_fn that deletes or replaces what it copies, or calls what does, gives its
 *   own hold up, and delete_fn runs at once.
 *   A value that another thread is just deleting: a delete succeeds at once, a set attaches its own.
 *   If then the running delete_fn fails, its value can't come back: it is gone, and the call that
 *   runs it returns the code.
 * Values of keyvals without a delete_fn are protected by nothing: a thread that frees what such values
 * point to must know by itself when nobody uses it any more.
 *
 * Linearizable: each attribute is, one by one: the calls on it take effect in some serial order that
 * agrees with their real-time order. Two calls count as two steps each. A delete that runs a delete_fn
 * begins, from when borrow and copy_all find nothing, and ends, from when get doesn't, or fails. A set
 * that fails because delete_fn has failed attaches its value and takes it back: get and a copy by
 * DUP_FN may see it in between, but nobody ever holds it.
 *
 * Who pays: borrowing and copying write no memory that another thread writes, but for the first
 * time that a value is held; so any number of threads may use one value. A call that deletes or
 * replaces a value which was ever held looks through what all threads have announced: one system
 * call (membarrier), once in a call, and a few microseconds. See ATTRCACHE_FULL_FENCES.
 *
 * User-level threads: see attrcache_thread_hooks.
 *
 * Signals: not async-signal-safe, except attrcache_get and its kin.
 *
 * Fork: the child may go on using a domain if no other thread was inside the library at the fork.
 * What threads have borrowed that the child doesn't have is held by nobody there; what was left to
 * them is deleted when its object is freed, or with the domain.
 */
#ifndef ATTRCACHE_ATTRCACHE_H_
#define ATTRCACHE_ATTRCACHE_H_

#include <stddef.h>
#include <stdint.h>

#define ATTRCACHE_VERSION_MAJOR 0
#define ATTRCACHE_VERSION_MINOR 1
#define ATTRCACHE_VERSION_PATCH 0
/* One comparable number: 10000 * major + 100 * minor + patch. */
#define ATTRCACHE_VERSION \
  (ATTRCACHE_VERSION_MAJOR * 10000 + ATTRCACHE_VERSION_MINOR * 100 + ATTRCACHE_VERSION_PATCH)

/* Only the shared library exports these functions. What embeds the static one, or the sources,
 * exports nothing of it. */
#if defined(ATTRCACHE_EXPORTS) && defined(__GNUC__)
#define ATTRCACHE_API __attribute__((visibility("default")))
#else
#define ATTRCACHE_API
#endif

#ifdef __cplusplus
#define ATTRCACHE_CAST(type, value) static_cast<type>(value)
#define ATTRCACHE_ADDRESS(pointer) reinterpret_cast<uintptr_t>(pointer)
#define ATTRCACHE_ALIGNAS(n) alignas(n)
#define ATTRCACHE_NOEXCEPT noexcept
/* So that any int a C caller passes may be looked at, and refused. */
#define ATTRCACHE_ENUM_BASE : int
#define ATTRCACHE_SIZE(type) = sizeof(type)
extern "C" {
#else
#define ATTRCACHE_CAST(type, value) ((type)(value))
#define ATTRCACHE_ADDRESS(pointer) ((uintptr_t)(pointer))
#define ATTRCACHE_ALIGNAS(n) _Alignas(n)
#define ATTRCACHE_NOEXCEPT
#define ATTRCACHE_ENUM_BASE
#define ATTRCACHE_SIZE(type)
#endif

/* ---- Results ------------------------------------------------------------------------------- */

enum {
  ATTRCACHE_OK = 0,
  ATTRCACHE_ABSENT = 1,            /* no error: the keyval exists, nothing is attached under it */
  ATTRCACHE_ERR_KEYVAL_INVALID,    /* ATTRCACHE_KEYVAL_INVALID was given */
  ATTRCACHE_ERR_KEYVAL_UNKNOWN,    /* no such keyval was ever handed out */
  ATTRCACHE_ERR_KEYVAL_STALE,      /* the keyval was freed and is gone */
  ATTRCACHE_ERR_KEYVAL_KIND,       /* the keyval belongs to another object kind */
  ATTRCACHE_ERR_KEYVAL_PREDEFINED, /* predefined: user code may not set, delete or free it */
  ATTRCACHE_ERR_NULL,              /* a null pointer where a value is due */
  ATTRCACHE_ERR_ARGUMENT,          /* an argument outside its range */
  ATTRCACHE_ERR_MEMORY,            /* out of memory */
  ATTRCACHE_ERR_KEYVALS_EXHAUSTED, /* 131008 keyvals of this kind are alive (or one less) */
  ATTRCACHE_ERR_KINDS_EXHAUSTED,   /* a domain has at most 16 kinds */
  ATTRCACHE_ERR_CALLBACK,          /* a callback failed; its own code is given beside this one */
  ATTRCACHE_ERR_REATTACHED,        /* callbacks went on attaching what was being deleted */
  ATTRCACHE_ERR_THREAD,            /* a borrow may be given back only by the thread that took it */
  ATTRCACHE_ERR_BUSY,              /* the table or domain is still in use */
  ATTRCACHE_ERR_UNSUPPORTED,       /* this processor lacks what the library was built for */
  ATTRCACHE_ERR_MOVED              /* the table's bytes were copied or moved while it had memory */
};

/* The callback code that stands for "a C++ exception left the callback, and was caught" (see
 * catch_exceptions in attrcache_domain_options). It is reserved for that: no callback may return
 * it, nor can one of MPI, where codes aren't negative (MPI-4.1 section 9.4). */
#define ATTRCACHE_CALLBACK_THREW (-2147483647 - 1)

/* One line of English for a result of any function here; never null. Any thread; wait-free. */
ATTRCACHE_API const char* attrcache_strerror(int result) ATTRCACHE_NOEXCEPT;

/* ATTRCACHE_VERSION of the library that is running. Any thread; wait-free. */
ATTRCACHE_API int attrcache_version(void) ATTRCACHE_NOEXCEPT;

/* One line of English that says for which processor the library was built, in how many steps it
 * reads and writes a slot's 16 bytes there, and which of the guarantees of progress above hold.
 * Whether the processor that it runs on can do that, attrcache_domain_create finds out. Never null.
 * Any thread; wait-free. */
ATTRCACHE_API const char* attrcache_platform(void) ATTRCACHE_NOEXCEPT;

/* ---- Domains and kinds --------------------------------------------------------------------- */

typedef struct attrcache_domain attrcache_domain;
typedef struct attrcache_kind attrcache_kind;

/* How the runtime's handles reach a callback. */
typedef enum attrcache_handle_form ATTRCACHE_ENUM_BASE {
  ATTRCACHE_HANDLE_POINTER = 0, /* C callbacks take a pointer */
  ATTRCACHE_HANDLE_INT = 1      /* C callbacks take an int: the low bits of `object` */
} attrcache_handle_form;

typedef struct attrcache_kind_options {
  uint32_t size ATTRCACHE_SIZE(attrcache_kind_options);
  attrcache_handle_form handle;
  const char* name; /* for reports; must outlive the domain; null: "object" */
  /* The Fortran INTEGER that stands for `object`, for Fortran callbacks; null: its low bits. */
  int (*fortran_handle)(void* object);
} attrcache_kind_options;

/* The kinds that every domain has. */
enum { ATTRCACHE_COMMUNICATOR = 0, ATTRCACHE_DATATYPE = 1, ATTRCACHE_WINDOW = 2 };

/* What a runtime keeps in each of its user-level threads, by value. All-zero bytes are a new one;
 * no call makes or destroys one. It must stay where it is, and must not end while the thread is
 * inside a function of this library or has borrowed something. */
typedef struct attrcache_thread {
  uint64_t opaque[4];
} attrcache_thread;

/* For runtimes whose threads are not those of the operating system (Argobots, Qthreads): where one
 * of the operating system takes up another user-level thread within a callback, or where a user-level
 * thread may migrate. With these hooks all that is said here of threads holds for
 * user-level threads. Without them it holds for those of the operating system, and a user-level
 * thread must not be switched within a callback, nor while it has borrowed something. */
typedef struct attrcache_thread_hooks {
  /* Who calls: that user-level thread's attrcache_thread, or null if it is none. */
  attrcache_thread* (*self)(void* context);
  /* Lets other user-level threads run; called where `self` has said that the caller is one, while an
   * owner gives up a table that others still use (attrcache_table_abandon). */
  void (*yield)(void* context);
  void* context;
} attrcache_thread_hooks;

/* For runtimes whose users' callbacks may be C++: calls call(argument), once, and returns 0; or, if
 * an exception left that, catches it and returns any other number. Every callback of the domain is
 * then run within such a call; one that throws fails with the code ATTRCACHE_CALLBACK_THREW, and
 * what a destructor throws is dropped. attrcache::catch_exceptions, in attrcache.hpp, is such a
 * function. */
typedef int attrcache_catch_exceptions(void (*call)(void* argument), void* argument);

/* For runtimes that trace memory, or have pools of their own: where a domain's memory comes from,
 * and that of its tables. Both functions are called by any thread that uses the domain, from within
 * any function here but get, and may call nothing here. */
typedef struct attrcache_allocator {
  /* So many bytes, at a multiple of `alignment` (16); null: out of memory. */
  void* (*allocate)(size_t bytes, size_t alignment, void* context);
  /* Takes back what `allocate` has returned; never null. */
  void (*release)(void* memory, void* context);
  void* context;
} attrcache_allocator;

/* For a runtime whose keyvals are to be other ints than the usual ones: because it always handed
 * out such, or so that an interposer with a domain of its own can tell its keyvals from the
 * runtime's. attrcache_get then is to be called through attrcache_get_ranged. */
typedef struct attrcache_keyval_numbers {
  /* Keyvals are base to base + 0x1fffffff, as unsigned numbers: a multiple of 0x20000000. (From
   * 0x80000000 on, the ints are negative.) ATTRCACHE_KEYVAL_MIN: the usual ones. */
  uint32_t base;
  /* What attrcache_keyval_free leaves in the variable, and KEYVAL_INVALID is returned for; not one
   * of the keyvals. */
  int invalid;
} attrcache_keyval_numbers;

typedef struct attrcache_domain_options {
  uint32_t size ATTRCACHE_SIZE(attrcache_domain_options);
  unsigned flags; /* ATTRCACHE_TELL, ATTRCACHE_FULL_FENCES, or 0 */
  /* Options of the three kinds above; null: the defaults (pointer handles). */
  const attrcache_kind_options* communicator;
  const attrcache_kind_options* datatype;
  const attrcache_kind_options* window;
  /* Copied; null: threads are those of the operating system. Both functions or none. */
  const attrcache_thread_hooks* threads;
  /* Null: no callback is ever left by an exception. */
  attrcache_catch_exceptions* catch_exceptions;
  /* Which ints are the domain's keyvals; copied; null: ATTRCACHE_KEYVAL_MIN to _MAX, and
   * ATTRCACHE_KEYVAL_INVALID. */
  const attrcache_keyval_numbers* numbers;
  /* How many bytes a Fortran INTEGER and LOGICAL have: 4, or 8 (-fdefault-integer-8); 0: 4. Fortran
   * callbacks get all their INTEGERs of that size by reference. With 8, ATTRCACHE_AS_FINT means the
   * same as ATTRCACHE_AS_AINT, and attrcache_get_aint reads an INTEGER. So 8 is UNSUPPORTED where
   * an address has 4 bytes. */
  int fint_bytes;
  /* What .FALSE. is in a LOGICAL; a flag that a Fortran copy_fn sets to anything else is true. */
  int fortran_false;
  /* Copied; null: malloc and free. Both functions or none. */
  const attrcache_allocator* allocator;
} attrcache_domain_options;

enum {
  /* Tell what MPI's standard leaves open: attrcache_delete returns ABSENT, not OK, where nothing
   * was attached, and attrcache_keyval_free where the keyval had been freed before. */
  ATTRCACHE_TELL = 1,
  /* Let borrowers and copiers execute a full fence each, instead of one by the kernel (membarrier)
   * for each call that deletes a value they read: for processes in which the kernel's fence is
   * dear, or not wanted. Without this flag it is so where the kernel has none. */
  ATTRCACHE_FULL_FENCES = 2
};

/* Makes a domain. `options` may be null. Errors: NULL (domain), ARGUMENT (threads, numbers,
 * fint_bytes, flags, allocator), MEMORY, UNSUPPORTED. Any thread; lock-free. */
ATTRCACHE_API int attrcache_domain_create(const attrcache_domain_options* options,
                                          attrcache_domain** domain) ATTRCACHE_NOEXCEPT;

/* What still lived in a domain when it was destroyed, or kept it from being destroyed. */
typedef struct attrcache_leaks {
  size_t keyvals;       /* created and never freed, predefined ones excepted */
  size_t freed_keyvals; /* freed, and kept alive by attributes */
  size_t attributes;    /* attached somewhere */
} attrcache_leaks;

enum {
  ATTRCACHE_DESTROY_IF_UNUSED = 0, /* attributes still attached: ERR_BUSY, and nothing is changed */
  /* Attached values are abandoned, their callbacks never called. Deletions that were left to threads
   * which still hold the values are run. */
  ATTRCACHE_DESTROY_ANYWAY = 1
};

/* Destroys a domain and frees the keyvals that are left (destructors of extra_state run, except
 * those of keyvals whose attributes are abandoned; keyvals that they make meanwhile are freed too,
 * in at most 16 rounds). `leaks`, if not null, is filled in either case.
 * Kinds end with their domain, so free every table before (attrcache_delete_all); later, only one
 * that is as new may be, and the memory that any other has is lost. Errors: NULL, ARGUMENT (mode),
 * BUSY. The domain must not be in use by another thread, nor by a callback up the stack. */
ATTRCACHE_API int attrcache_domain_destroy(attrcache_domain* domain, int mode,
                                           attrcache_leaks* leaks) ATTRCACHE_NOEXCEPT;

/* The kind that ATTRCACHE_COMMUNICATOR, _DATATYPE, _WINDOW or the order of registration (3, 4, ...)
 * numbers; null when there is none. Valid as long as the domain. Any thread; wait-free. */
ATTRCACHE_API attrcache_kind* attrcache_kind_of(attrcache_domain* domain,
                                                int number) ATTRCACHE_NOEXCEPT;

/* Registers one more kind of object (file, session, task, ...). `options` may be null. Errors:
 * NULL, KINDS_EXHAUSTED. Any thread; lock-free. */
ATTRCACHE_API int attrcache_kind_register(attrcache_domain* domain,
                                          const attrcache_kind_options* options,
                                          attrcache_kind** kind) ATTRCACHE_NOEXCEPT;

/* What ints the keyvals of a kind's domain are. Of a null kind: the usual ones. Any thread;
 * wait-free. */
ATTRCACHE_API attrcache_keyval_numbers attrcache_kind_numbers(const attrcache_kind* kind)
    ATTRCACHE_NOEXCEPT;

/* ---- Keyvals ------------------------------------------------------------------------------- */

/* Never handed out; fit for the static initialization of a keyval variable. (Of a domain that has
 * `numbers`, it is another int.) [C] */
#define ATTRCACHE_KEYVAL_INVALID 0

/* Keyvals are opaque. They lie between these two, both included, which is disjoint from what Open
 * MPI, MPICH and the MPI-5 ABI hand out or define; unless the domain has `numbers`. */
#define ATTRCACHE_KEYVAL_MIN 0x40000000
#define ATTRCACHE_KEYVAL_MAX 0x5fffffff

/* The calling convention of a keyval's callbacks. [L] */
typedef enum attrcache_language ATTRCACHE_ENUM_BASE {
  ATTRCACHE_C = 0,            /* attrcache_copy_fn, or attrcache_copy_int_fn for int handles */
  ATTRCACHE_FORTRAN_FINT = 1, /* MPI-1 style: INTEGER values and extra_state, all by reference */
  ATTRCACHE_FORTRAN_AINT = 2, /* MPI-2 style and mpi_f08: INTEGER(KIND=MPI_ADDRESS_KIND) */
  ATTRCACHE_RAW = 3,          /* attrcache_copy_raw_fn, for the bindings of a runtime */
  /* To be added to one of these (in C++ by a cast): delete_fn is a destructor. It runs once for
   * each value, and the value is gone even if it fails. The call that ran it returns CALLBACK all
   * the same: attrcache_delete with nothing attached any more; attrcache_set with nothing attached
   * either: its caller still has what was to be attached; attrcache_delete_all stops after that
   * attribute, if it is to stop at failures, and a second call goes on with the others. (Beyond
   * MPI: mpi-forum/mpi-issues #839.) */
  ATTRCACHE_DELETE_ONCE = 256
} attrcache_language;

/* How a value was set. [L] */
typedef enum attrcache_tag ATTRCACHE_ENUM_BASE {
  ATTRCACHE_AS_POINTER = 0, /* a C pointer; C reads the pointer */
  ATTRCACHE_AS_INT = 1,     /* a C int (predefined attributes); C reads the address of an int */
  ATTRCACHE_AS_FINT = 2,    /* a Fortran INTEGER; C reads the address of one */
  ATTRCACHE_AS_AINT = 3     /* an INTEGER(KIND=MPI_ADDRESS_KIND); C reads the address of one */
} attrcache_tag;

/* Any callback; cast to it from one of the shapes below, which `language` and the kind's handle
 * form select. C callbacks return 0 for success, any other code for failure; Fortran ones set
 * *ierror. */
typedef void attrcache_callback(void);

typedef int attrcache_copy_fn(void* object, int keyval, void* extra_state, void* value_in,
                              void* value_out /* void** */, int* flag);
typedef int attrcache_delete_fn(void* object, int keyval, void* value, void* extra_state);
typedef int attrcache_copy_int_fn(int object, int keyval, void* extra_state, void* value_in,
                                  void* value_out /* void** */, int* flag);
typedef int attrcache_delete_int_fn(int object, int keyval, void* value, void* extra_state);
typedef void attrcache_copy_fint_fn(int* object, int* keyval, int* extra_state, int* value_in,
                                    int* value_out, int* flag, int* ierror);
typedef void attrcache_delete_fint_fn(int* object, int* keyval, int* value, int* extra_state,
                                      int* ierror);
typedef void attrcache_copy_aint_fn(int* object, int* keyval, intptr_t* extra_state,
                                    intptr_t* value_in, intptr_t* value_out, int* flag,
                                    int* ierror);
typedef void attrcache_delete_aint_fn(int* object, int* keyval, intptr_t* value,
                                      intptr_t* extra_state, int* ierror);
/* The values are as they were set, not as C sees them; `object` is as it was given, also where
 * handles are ints; `context` is that of the keyval's attrcache_callbacks. On entry *tag_out is
 * `tag`, *value_out and *flag are 0. */
typedef int attrcache_copy_raw_fn(void* object, int keyval, void* extra_state, void* context,
                                  attrcache_tag tag, intptr_t value, attrcache_tag* tag_out,
                                  intptr_t* value_out, int* flag);
typedef int attrcache_delete_raw_fn(void* object, int keyval, void* extra_state, void* context,
                                    attrcache_tag tag, intptr_t value);

/* Sentinels, never called (the values of the MPI-5 ABI). */
#ifdef __cplusplus
#define ATTRCACHE_NO_CALLBACK static_cast<attrcache_callback*>(nullptr)
#define ATTRCACHE_DUP_FN reinterpret_cast<attrcache_callback*>(uintptr_t{1})
#else
#define ATTRCACHE_NO_CALLBACK ((attrcache_callback*)0)
#define ATTRCACHE_DUP_FN ((attrcache_callback*)1) /* copies value and tag unchanged */
#endif
#define ATTRCACHE_NULL_COPY_FN ATTRCACHE_NO_CALLBACK   /* copies nothing */
#define ATTRCACHE_NULL_DELETE_FN ATTRCACHE_NO_CALLBACK /* does nothing */

typedef struct attrcache_callbacks {
  uint32_t size ATTRCACHE_SIZE(attrcache_callbacks);
  attrcache_language language;
  attrcache_callback* copy_fn;
  attrcache_callback* delete_fn;
  /* Handed to both. For Fortran callbacks the value itself (they get the address of a copy that
   * lives as long as the keyval). */
  void* extra_state;
  /* Called once, with extra_state, when the keyval is gone: freed, and its last attribute deleted.
   * On the thread that made that come true. May be null. */
  void (*destructor)(void* extra_state);
  /* The runtime's own: handed to raw callbacks, and to a destructor of its own, which is called
   * after the other one. Both may be null. */
  void* context;
  void (*context_destructor)(void* context, void* extra_state);
} attrcache_callbacks;

/* Makes a keyval of `kind`. `callbacks` may be null: copy nothing, delete silently. Errors: NULL,
 * ARGUMENT (language; DUP_FN to delete by), MEMORY, KEYVALS_EXHAUSTED. Any thread; lock-free. [C
 * MPI_COMM_CREATE_KEYVAL and its kin] */
ATTRCACHE_API int attrcache_keyval_create(attrcache_kind* kind,
                                          const attrcache_callbacks* callbacks,
                                          int* keyval) ATTRCACHE_NOEXCEPT;

/* Gives a keyval other callbacks, all of attrcache_callbacks, before it is used for the first time:
 * for runtimes that learn of the language, or of wrappers, after they have made the keyval. For the
 * thread that made it alone, before anybody else knows the int (others may list keyvals). No
 * destructor runs for the old ones. It takes a record of 88 bytes until the keyval is gone. Errors:
 * NULL, KEYVAL_*, ARGUMENT (as attrcache_keyval_create), MEMORY, BUSY (something was attached under
 * it, or it is freed). Lock-free. */
ATTRCACHE_API int attrcache_keyval_set_callbacks(
    attrcache_kind* kind, int keyval, const attrcache_callbacks* callbacks) ATTRCACHE_NOEXCEPT;

/* Frees a keyval and sets the variable to ATTRCACHE_KEYVAL_INVALID. As long as an attribute is
 * attached under it, the keyval goes on serving all calls (through a saved copy of the int); when
 * the last one is gone, so is the keyval. Freeing a keyval that is freed and still in use succeeds
 * (with ABSENT in a domain with ATTRCACHE_TELL: exactly one call of all returns OK);
 * when two threads free it at the same time, it is gone when both have returned.
 * A freed keyval that is gone is recognised as STALE until its number comes round again, after at
 * least 16000 more creations (500 when nearly all that a kind can have are alive). Errors: NULL,
 * KEYVAL_*. Any thread; lock-free; may run the destructor. [C MPI_COMM_FREE_KEYVAL] */
ATTRCACHE_API int attrcache_keyval_free(attrcache_kind* kind, int* keyval) ATTRCACHE_NOEXCEPT;

/* ---- Attributes ---------------------------------------------------------------------------- */

/* What a runtime embeds in each object. All-zero bytes are a valid empty table; no call makes or
 * destroys one. Aligned to 64 bytes it occupies one cache line; 16 are enough for correctness.
 * Its bytes may be copied or moved only while it is as new: before the first attribute is attached,
 * and after attrcache_delete_all has succeeded. In between it may own memory, even when every
 * attribute has been deleted; attrcache_table_move moves it then. (attrcache_copy_all and
 * attrcache_delete_all return MOVED where they find a table with another one's memory.) Belongs to
 * one kind of one domain: another domain's keyvals may be the same ints, and must not be used on
 * it. */
typedef struct attrcache_table {
  ATTRCACHE_ALIGNAS(16) uint64_t opaque[8];
} attrcache_table;

/* Whether a table is where it may be: for an assertion where objects are allocated. Wait-free. */
static inline int attrcache_table_is_aligned(const attrcache_table* table) ATTRCACHE_NOEXCEPT {
  return (ATTRCACHE_ADDRESS(table) & 15) == 0;
}

#ifdef __cplusplus
#define ATTRCACHE_TABLE_INIT \
  {}
#else
#define ATTRCACHE_TABLE_INIT \
  {                          \
    { 0 }                    \
  }
#endif

/* Whether nothing was attached to a table since it was new, so that there is nothing to copy or to
 * delete: attrcache_copy_all from it and attrcache_delete_all on it would do nothing. A table whose
 * attributes have all been deleted one by one may still own memory, so of that it says 0. Any
 * thread; wait-free; inline, of four instructions, so that a runtime can ask for every object. */
static inline int attrcache_table_is_empty(const attrcache_table* table) ATTRCACHE_NOEXCEPT {
#if defined(__GNUC__)
  return (__atomic_load_n(&table->opaque[0], __ATOMIC_RELAXED) |
          __atomic_load_n(&table->opaque[1], __ATOMIC_RELAXED)) == 0;
#else
  const volatile uint64_t* words = table->opaque;
  return (words[0] | words[1]) == 0;
#endif
}

/* Attaches `value` under `keyval`, in one step: from then on everybody finds it, and never none. Then
 * the old value's delete_fn runs (see "Who deletes" at the top). If that fails, the old value is
 * attached again, the call returns CALLBACK, and the new value is the caller's. But if somebody has
 * taken up the new value meanwhile (holds, has copied, replaced or deleted it), or delete_fn has freed
 * the object, the set has succeeded, and the old value is gone: OK. Of a keyval with
 * ATTRCACHE_DELETE_ONCE the old value is gone in either case. A delete_fn that a set runs finds the
 * new value attached. `tag` says how value is meant; of an int or Fint only the low 32 bits count (but
 * see fint_bytes). `callback_code` may be null; it is written only with what a delete_fn has returned
 * that failed: with CALLBACK, or beside OK. Errors: NULL (kind, table), ARGUMENT (tag), KEYVAL_*,
 * MEMORY, CALLBACK, REATTACHED (the call is within 16 others, each a set of this attribute within the
 * delete_fn of the one before). Any thread; lock-free; runs delete_fn, perhaps the destructor. [C
 * MPI_COMM_SET_ATTR] */
ATTRCACHE_API int attrcache_set(attrcache_kind* kind, attrcache_table* table, void* object,
                                int keyval, intptr_t value, attrcache_tag tag,
                                int* callback_code) ATTRCACHE_NOEXCEPT;

/* Reads an attribute as C does: OK and the value (or its address, see attrcache_tag), or ABSENT,
 * which leaves *value alone. An address stays valid as long as that attribute is attached. Nothing
 * keeps alive what a pointer points to: another thread's set or delete may end it at once
 * (attrcache_borrow). A value whose delete_fn is running is still there. The kind is looked at only
 * where nothing is found in the table: then it may not be null (NULL: without it nobody can tell
 * whether the keyval exists), and only then is it noticed that it isn't the table's. Errors: NULL,
 * KEYVAL_*. Any thread; wait-free: no atomic read-modify-write, no fence, no store but to *value.
 * Allocates nothing, and calls nothing but the function of a predefined keyval that has one
 * (ATTRCACHE_COMPUTED). In a domain that has `numbers` this takes another int than all other
 * functions, and is to be called through attrcache_get_ranged: a keyval as it is would be UNKNOWN.
 * [C MPI_COMM_GET_ATTR] */
ATTRCACHE_API int attrcache_get(const attrcache_kind* kind, const attrcache_table* table,
                                int keyval, void** value) ATTRCACHE_NOEXCEPT;

/* attrcache_get in a domain that has `numbers`, of which `base` is given, if possible as a
 * constant. It costs one instruction more. Inline. */
static inline int attrcache_get_ranged(const attrcache_kind* kind, const attrcache_table* table,
                                       uint32_t base, int keyval, void** value) ATTRCACHE_NOEXCEPT {
  return attrcache_get(kind, table,
                       ATTRCACHE_CAST(int, ATTRCACHE_CAST(uint32_t, keyval) ^ base ^
                                               ATTRCACHE_CAST(uint32_t, ATTRCACHE_KEYVAL_MIN)),
                       value);
}

/* The same, read as a Fortran INTEGER (MPI-1 style): the low bits of what is attached. */
ATTRCACHE_API int attrcache_get_fint(const attrcache_kind* kind, const attrcache_table* table,
                                     int keyval, int* value) ATTRCACHE_NOEXCEPT;

/* The same, read as an INTEGER(KIND=MPI_ADDRESS_KIND): all of it, ints sign-extended. */
ATTRCACHE_API int attrcache_get_aint(const attrcache_kind* kind, const attrcache_table* table,
                                     int keyval, intptr_t* value) ATTRCACHE_NOEXCEPT;

/* Runs delete_fn and detaches the attribute, which get finds until delete_fn has succeeded. If it
 * fails, the attribute stays attached (but see ATTRCACHE_DELETE_ONCE) and the call returns CALLBACK.
 * If others hold the value, it is detached at once, and its deletion left to them (see "Who deletes"
 * at the top). Nothing attached: OK (ABSENT in a domain with ATTRCACHE_TELL). Value already being
 * deleted, by another thread or up this one's stack: OK at once, and it is hidden from get. Errors:
 * NULL, KEYVAL_*, CALLBACK, MEMORY (for a thread's first deletion in the domain, and where others may
 * hold the value). Any thread; lock-free; runs delete_fn, perhaps the destructor. [C
 * MPI_COMM_DELETE_ATTR] */
ATTRCACHE_API int attrcache_delete(attrcache_kind* kind, attrcache_table* table, void* object,
                                   int keyval, int* callback_code) ATTRCACHE_NOEXCEPT;

/* Dup: for every attribute of `old_table`, in the order of setting, runs copy_fn (with
 * `old_object`) and attaches what it returns with flag = true to `new_table`. If one fails,
 * everything attached to new_table is deleted again (delete_fn gets `new_object`), new_table is
 * left empty, and the call returns CALLBACK or the error that stopped it. An attribute whose
 * deletion another thread has begun may be skipped. One whose delete_fn is running up this thread's
 * own stack is copied, since it is attached until that has succeeded. One that is replaced
 * meanwhile is copied, with the old value or the new one. Predefined attributes are copied if their
 * definition says so, without a call. While copy_fn runs, no delete_fn does on the value it copies,
 * unless copy_fn itself deletes or replaces that value; a deletion that was left to this thread runs
 * when copy_fn has returned. A value that C reads at its address is given to copy_fn as a copy. Nobody
 * else may use new_table meanwhile; if callbacks do, a failed call may leave there what can't be
 * deleted (borrowed, or attached again and again). Errors: NULL, ARGUMENT (the two tables are one),
 * KEYVAL_KIND (attributes of another kind), CALLBACK, MEMORY, MOVED, BUSY (a callback has freed one
 * of the objects, whose memory isn't touched any more; if that was the new one, what this copy_fn
 * has returned is attached nowhere), and those of attrcache_set. Any thread; lock-free; runs
 * copy_fn, and delete_fn after a failure. [C MPI_COMM_DUP] */
ATTRCACHE_API int attrcache_copy_all(attrcache_kind* kind, attrcache_table* old_table,
                                     void* old_object, attrcache_table* new_table, void* new_object,
                                     int* callback_code) ATTRCACHE_NOEXCEPT;

typedef enum attrcache_delete_mode ATTRCACHE_ENUM_BASE {
  /* Stop at the first delete_fn that fails: its attribute (but see ATTRCACHE_DELETE_ONCE) and those
   * not yet deleted stay attached, and a second call goes on from there. */
  ATTRCACHE_STOP_AT_FAILURE = 0,
  /* Attempt all, detach all, and return the first failure. */
  ATTRCACHE_DRAIN = 1,
  /* As DRAIN; and whatever is returned, the table is as new: for destructors, which can't come back.
   * Where DRAIN would return BUSY because another thread is within a deletion, this waits for it.
   * Values that somebody holds, deletions that were left, what callbacks have attached after 16 rounds,
   * and attributes of another kind are abandoned: delete_fn isn't called. */
  ATTRCACHE_DRAIN_FINALLY = 2
} attrcache_delete_mode;

/* Free: deletes every attribute, in the reverse order of setting, and releases the table's memory;
 * the table is then as new. Attributes that callbacks attach meanwhile are deleted too, in at most
 * 16 rounds, then REATTACHED is returned and the table stays as it is. A value that somebody holds
 * stays attached, and so do those that are older: BUSY. BUSY is also returned while another thread is
 * within a deletion on the table, or one is left to a thread that holds the value. Nothing is waited
 * for; a second call goes on from there, and calls nothing twice. To be called by the object's
 * owner; see the rule for threads at the top. Errors: NULL, ARGUMENT (mode), KEYVAL_KIND
 * (attributes of another kind), CALLBACK, and those after which the table is still there, whatever
 * callbacks have returned, but with DRAIN_FINALLY: MOVED, REATTACHED, BUSY. What was deleted before an
 * error is. Lock-free; runs delete_fn, perhaps destructors. [C MPI_COMM_FREE; F] */
ATTRCACHE_API int attrcache_delete_all(attrcache_kind* kind, attrcache_table* table, void* object,
                                       attrcache_delete_mode mode,
                                       int* callback_code) ATTRCACHE_NOEXCEPT;

/* Gives up everything in a table without calling a callback: for a runtime that ends while objects
 * still live. The table gives back its memory and its references on keyvals, and is as new. (So
 * keyvals that were freed before may end by it; their destructors run then, as they belong to the
 * keyvals and not to the values.) Deletions that were left are given up, too. Those that other threads
 * are within are waited for. What was borrowed stays to be given back, by a call that then does
 * nothing. To be called by the object's owner, before the domain ends. Errors: NULL, KEYVAL_KIND
 * (attributes of another kind: the references on their keyvals are lost), MOVED (its bytes are made
 * new, and the memory is left to the table that has it); the table is as new after these two as well.
 * Lock-free but for that wait; may run destructors. (Beyond MPI.) */
ATTRCACHE_API int attrcache_table_abandon(attrcache_kind* kind,
                                          attrcache_table* table) ATTRCACHE_NOEXCEPT;

/* Moves a table that nobody else uses, attributes and all, to one that is as new; `from` is as new
 * afterwards. Addresses that get has given of values that were not set as C pointers become
 * invalid. Errors: NULL, ARGUMENT (both are one, or `to` isn't as new), MOVED, BUSY (a value is
 * being copied or deleted, or is borrowed, or a callback up the stack is on one of the two). No
 * other thread may use either. Wait-free, calls nothing back. (Beyond MPI: for runtimes whose
 * objects move.) */
ATTRCACHE_API int attrcache_table_move(attrcache_kind* kind, attrcache_table* from,
                                       attrcache_table* to) ATTRCACHE_NOEXCEPT;

/* A value that is kept alive. To be zeroed before its first use (`= {0}`). Filled by
 * attrcache_borrow; must stay where it is until given back. */
typedef struct attrcache_borrowed {
  void* value; /* as attrcache_get gives it */
  uint64_t opaque[7];
} attrcache_borrowed;

/* A get that keeps the value alive: until attrcache_give_back, by the same thread, its delete_fn does
 * not start, though others, and this thread, may delete or replace it meanwhile (see "Who deletes" at
 * the top). ABSENT from when a deletion has begun, though get still sees the value until delete_fn has
 * succeeded. A value that C reads at its address is copied into *borrowed. Errors: NULL, ARGUMENT
 * (*borrowed still holds a value of this thread), KEYVAL_*, MEMORY (for a thread's first in the
 * domain, and where it holds more at once than ever before). Any thread; lock-free. Calls nothing back,
 * but where an attempt of its own met a deletion: it may have to run that value's delete_fn. (Beyond
 * MPI.) */
ATTRCACHE_API int attrcache_borrow(attrcache_kind* kind, attrcache_table* table, int keyval,
                                   attrcache_borrowed* borrowed) ATTRCACHE_NOEXCEPT;

/* Ends a borrow, before the domain ends. If the value was deleted or replaced meanwhile, and nobody
 * else holds it, this runs its delete_fn, and perhaps the keyval's destructor. Errors: NULL, ARGUMENT
 * (not borrowed, given back already, or a copy of what was borrowed), THREAD. Wait-free, but for
 * those. (Beyond MPI.) */
ATTRCACHE_API int attrcache_give_back(attrcache_borrowed* borrowed) ATTRCACHE_NOEXCEPT;

/* ---- Predefined attributes ----------------------------------------------------------------- */

/* Attributes that only the runtime sets, as MPI_TAG_UB. User code can read and borrow them, in
 * every language, but setting, deleting and freeing them is an error (PREDEFINED). Their keyvals
 * have numbers of the runtime's choice, compile-time constants included, and take nothing in a
 * table. This says where the values of one are. */
typedef enum attrcache_where ATTRCACHE_ENUM_BASE {
  /* One value, the same on every object of the kind (MPI_TAG_UB of a runtime for which it is the
   * process's). */
  ATTRCACHE_PER_KIND = 0,
  /* Where the runtime says, whenever somebody reads it (MPI_WIN_SIZE, which the window knows
   * anyway). */
  ATTRCACHE_COMPUTED = 1
} attrcache_where;

/* Where a COMPUTED value of the object with this table is now: the address of an int (tag AS_INT),
 * of a pointer (AS_POINTER) or of an intptr_t (AS_AINT); null: the object has none. The memory must
 * hold a value as long as somebody may read what was got. Called by get and borrow, in any thread,
 * at any time until the domain ends; it must not wait, nor use the table but for finding the
 * object. */
typedef const void* attrcache_compute_fn(const attrcache_table* table, void* context);

typedef struct attrcache_predefined {
  uint32_t size ATTRCACHE_SIZE(attrcache_predefined);
  /* Any int but the domain's own keyvals and its invalid value. */
  int number;
  attrcache_tag tag; /* AS_INT (MPI_TAG_UB), AS_POINTER (MPI_WIN_BASE) or AS_AINT (MPI_WIN_SIZE) */
  attrcache_where where;
  /* PER_KIND: the value, as attrcache_set_predefined would set it. */
  intptr_t value;
  /* COMPUTED. */
  attrcache_compute_fn* compute;
  void* context;
} attrcache_predefined;

/* Defines a keyval that is predefined, until the domain ends: for a runtime's initialization. (What
 * is no more at its finalization, a COMPUTED one can say by null.) What is got of a PER_KIND value,
 * also its address where C reads that, stays valid as long; what an address holds changes by
 * attrcache_set_predefined, in one step. A kind can have 48 of them, of 64 bytes each. Errors:
 * NULL, ARGUMENT (number, tag, where; defined already), MEMORY, KEYVALS_EXHAUSTED (48 are defined).
 * Any thread; lock-free. [L] */
ATTRCACHE_API int attrcache_keyval_define(
    attrcache_kind* kind, const attrcache_predefined* predefined) ATTRCACHE_NOEXCEPT;

/* Changes the value of a keyval that is PER_KIND. Errors: NULL, KEYVAL_*, ARGUMENT (a keyval that
 * isn't PER_KIND). Any thread; wait-free. */
ATTRCACHE_API int attrcache_set_predefined(attrcache_kind* kind, int keyval,
                                           intptr_t value) ATTRCACHE_NOEXCEPT;

/* ---- Introspection -------------------------------------------------------------------------
 *
 * A thread within these functions stops nobody, even if it is itself stopped there for ever. What
 * can't be given back meanwhile is one record of at most 88 bytes for each keyval that is freed
 * while it is stopped within attrcache_keyval_list or attrcache_keyval_describe; all of them are
 * given back when it goes on. The other functions hold back nothing. */

typedef struct attrcache_keyval_info {
  int keyval;
  int freed; /* freed, and kept alive by its attributes */
  int predefined;
  attrcache_callbacks callbacks;
  /* Attached now, to tables. Exact when nobody attaches, deletes or frees the keyval meanwhile. */
  uint64_t attributes;
} attrcache_keyval_info;

typedef struct attrcache_attribute_info {
  int keyval;
  attrcache_tag tag;
  intptr_t value;
  unsigned pins; /* copies and borrows of it that are under way */
  int deleting;  /* its delete_fn is running */
} attrcache_attribute_info;

typedef struct attrcache_counters {
  /* Since the domain was made; predefined ones excepted. */
  uint64_t keyvals_created;
  uint64_t keyvals_freed; /* of them, freed by attrcache_keyval_free */
  uint64_t keyvals_gone;  /* of those, gone: their last attribute was deleted */
  uint64_t attributes;    /* attached now, on all tables together, or left; exact as above */
  uint64_t reclaimable;   /* records of keyvals that wait for a thread within introspection */
} attrcache_counters;

/* Lists the keyvals of a kind, in the order of their index, and then those of
 * attrcache_keyval_define: fills at most `capacity` of `infos`
 * (null only with capacity 0) and sets *count to how many there are. Errors: NULL. Any thread;
 * lock-free. */
ATTRCACHE_API int attrcache_keyval_list(attrcache_kind* kind, attrcache_keyval_info* infos,
                                        size_t capacity, size_t* count) ATTRCACHE_NOEXCEPT;

/* Describes one keyval. Errors: NULL, KEYVAL_*. Any thread; lock-free. */
ATTRCACHE_API int attrcache_keyval_describe(attrcache_kind* kind, int keyval,
                                            attrcache_keyval_info* info) ATTRCACHE_NOEXCEPT;

/* Lists the attributes of a table, in the order of setting, as attrcache_keyval_list does; but for
 * predefined ones, which are in no table. */
ATTRCACHE_API int attrcache_attribute_list(attrcache_kind* kind, const attrcache_table* table,
                                           attrcache_attribute_info* infos, size_t capacity,
                                           size_t* count) ATTRCACHE_NOEXCEPT;

/* Reads a domain's counters. Errors: NULL. Any thread; lock-free. */
ATTRCACHE_API int attrcache_domain_counters(attrcache_domain* domain,
                                            attrcache_counters* counters) ATTRCACHE_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ATTRCACHE_ATTRCACHE_H_ */
