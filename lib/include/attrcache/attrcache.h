/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * attrcache: a lock-free concurrent attribute cache for MPI runtimes and their like. The C API.
 *
 * Sources, as cited below, all in MPI-4.1: [C] section 7.7, caching (MPI-1.1 5.7, MPI-2.2 6.7); [L]
 * 19.3.7, attributes between languages (MPI-2 4.12.7); [F] 11.2.4, user functions at finalization
 * (MPI-2.2 8.7.1).
 *
 * The nouns
 *   domain     one independent set of keyvals. Two domains share nothing.
 *   kind       a sort of object that attributes are attached to (communicator, datatype, window, or
 *              one that the runtime registers). A keyval of one kind is an error on another.
 *   table      what the runtime embeds, by value, in each of its objects.
 *   keyval     an int that names an attribute on every object of its kind.
 *   object     the runtime's own handle of the object. The library passes it to callbacks and does
 *              nothing else with it.
 *   attribute  a value attached to one object under one keyval.
 *   holder     a thread that has borrowed a value (attrcache_borrow), or whose copy_fn is reading
 *              it. A plain get holds nothing.
 *
 * A first example
 *
 *   #include <attrcache/attrcache.h>
 *   #include <stdio.h>
 *   #include <stdlib.h>
 *
 *   struct comm {
 *     attrcache_table attributes;  // all zero: an empty table
 *   };
 *
 *   static int delete_plan(void* comm, int keyval, void* plan, void* extra_state) {
 *     (void)comm, (void)keyval, (void)extra_state;
 *     free(plan);
 *     return 0;
 *   }
 *
 *   int main(void) {
 *     struct comm comm = {0};
 *     attrcache_domain* domain;
 *     attrcache_domain_create(NULL, &domain);
 *     attrcache_kind* comms;
 *     attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &comms);  // or attrcache_kind_register
 *     attrcache_callbacks callbacks = {.size = sizeof callbacks,
 *                                      .delete_fn = (attrcache_callback*)delete_plan};
 *     int plan_key;
 *     attrcache_keyval_create(comms, &callbacks, &plan_key);
 *     attrcache_set(comms, &comm.attributes, &comm, plan_key, calloc(1, 64), NULL);
 *     void* plan;
 *     if (attrcache_get(comms, &comm.attributes, plan_key, &plan) == ATTRCACHE_OK) puts("planned");
 *     attrcache_delete_all(comms, &comm.attributes, &comm, ATTRCACHE_STOP_AT_FAILURE, NULL);
 *     attrcache_keyval_free(comms, &plan_key);
 *     return attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, NULL);
 *   }
 *
 * When not to use it
 *   - Data that every object has, known when you write its struct, belong in the struct.
 *   - Where one thread uses all objects, or a lock of yours is held anyway, an array of values that
 *     the key indexes costs less: it needs no atomic instruction to set and delete.
 *   - Keys that come from outside (strings, addresses) need a map: here the library chooses them.
 *   - A table takes 64 bytes in each object, which is much where there are millions of small ones.
 *
 * Rules for all functions
 *
 * Results: what can fail returns an int. ATTRCACHE_OK is 0; errors are negative; positive results
 * are other answers (ABSENT, PRESENT), to which later versions may add. A call that returns an
 * error has changed nothing, unless its description says otherwise. Descriptions name errors
 * without ATTRCACHE_ERR_, and by KEYVAL_* all that begin so; of these, KEYVAL_PREDEFINED comes only
 * from calls that would change something. The library needs no C++ runtime and throws nothing.
 *
 * Structs that callers fill, and those that the library fills, begin with their own size (`size`),
 * so that later versions can add members (but attrcache_allocator, attrcache_thread_hooks,
 * attrcache_keyval_numbers and attrcache_borrowed, which will stay as they are): C callers write
 * {.size = sizeof options, ...} before the call; in C++ the member initializes itself. In an array,
 * the first element's size counts for all. A size that is smaller than the struct in the first
 * release (0, say, or that of a pointer) is an ARGUMENT error; where the library fills the struct,
 * so is one above 4096, and in an array one that doesn't keep the elements aligned. Members that
 * the caller's version doesn't have count as zero. Members that the library's doesn't have must be
 * zero (else UNSUPPORTED); in structs that the library fills, it zeroes them.
 *
 * Threads: any thread may call any function at any time, on any object, without registering. There
 * are four exceptions. Once a table's owner frees the object (attrcache_delete_all,
 * attrcache_table_abandon), no other thread may begin a call on that table, or still be within one,
 * except in a delete_fn that its set or delete runs. A domain may be destroyed only when no other
 * thread uses it any more. Only the thread that created a keyval may call
 * attrcache_keyval_set_callbacks, and only before it publishes the keyval. And a thread must give
 * back what it has borrowed before it ends (in the destructor of a pthread key it may be too late).
 *
 * Callbacks must return. If longjmp, the end of the thread, or an exception that the domain's
 * catch_exceptions doesn't catch leaves a callback, the behavior is undefined. (The C++ API,
 * mpi2.hpp and the interposers catch the exceptions of their users' callbacks.)
 *
 * Progress is stated per function, not counting the callbacks that a call runs, nor the allocator.
 * "Wait-free" holds where the processor adds in one step (x86-64, s390x, AArch64 with LSE). How
 * many steps a 16-byte access takes depends on the processor and on the build; attrcache_platform()
 * reports which it is:
 *   read in one step         get is wait-free. x86-64 with AVX; s390x; AArch64 built with
 *                            -DATTRCACHE_LSE2 (where get executes one load barrier).
 *   read in two steps,       get is lock-free. x86-64 built with -DATTRCACHE_PAIR_TWO_STEP; other
 *   exchanged in one         AArch64; POWER8 and later.
 *   steps of 8 bytes         get is lock-free, except that it waits for a thread that is replacing
 *                            a value in the same slot by one with another tag (an Aint over a C
 *                            pointer, say); so a signal handler that may interrupt such a set must
 *                            not call it. Every other function that uses a slot waits for a thread
 *                            that is storing a value in it; one that is stopped between its three
 *                            stores blocks them. A deletion that was handed off can be lost if a
 *                            thread is interrupted at two instructions while another one borrows
 *                            from three tables in turn. RISC-V, i386, 32-bit ARM, all others; and any,
 *                            built with -DATTRCACHE_PAIR_TWO_WORDS.
 *
 * Guarantees. Other documents refer to them by their numbers.
 *
 * 1. Exactly once. Every value attached under a keyval with a delete_fn is deleted (its delete_fn
 *    is called) exactly once, unless it is still attached, or a failed call handed it back. (Values
 *    that a table's owner abandons are not deleted: attrcache_table_abandon, and what
 *    ATTRCACHE_DRAIN_FINALLY and ATTRCACHE_DESTROY_ANYWAY leave behind.)
 *
 * 2. No call waits for another thread: not for its callback, its copy, its borrow or its set, nor
 *    for the scheduler to run it. There is no lock, no sleep, and no error that reports a deadlock.
 *    A thread that is stopped, at any instruction, for ever, keeps no other thread's call from
 *    ending. But the value that it holds or was about to delete isn't deleted meanwhile, and the
 *    object that its call is about can't be freed (BUSY). Two exceptions: processors with steps of
 *    8 bytes (above); and a process that forbids itself membarrier after it has used it, in which
 *    each call that needs it (guarantee 8) sleeps for 20 ms instead. (A runtime that calls
 *    attrcache_delete_all again and again until it isn't BUSY waits by its own choice.)
 *
 * 3. A held value lives. While a thread holds a value, that value's delete_fn doesn't start. The
 *    exception is a copy_fn that deletes or replaces the very value that it copies, or tries to,
 *    directly or through what it calls: it gives up its own hold, so delete_fn runs at once. Values
 *    of keyvals without a delete_fn can't be held in this sense: a thread that frees what they
 *    point to must know by other means that nobody uses it any more.
 *
 * 4. The last holder deletes. A delete or set of a value that nobody holds runs its delete_fn at
 *    once, on the calling thread. If others hold it, or the caller itself has borrowed it, the call
 *    detaches or replaces the value and succeeds at once; the last holder to let go runs delete_fn,
 *    in its attrcache_give_back or when its copy_fn has returned. (A borrow or copy_all may run it
 *    too, if it tried to hold that very value and failed.) No call runs the deletion of a value
 *    that its thread has neither held nor tried to hold, unless it deletes or replaces that. No
 *    call returns the failure of a deletion that was handed off like this, and the value is gone
 *    all the same. Hence extra_state must live until the keyval's destructor is called. delete_fn
 *    may use the object, because attrcache_delete_all is BUSY until the last holder has run it.
 *    (Not so ATTRCACHE_DRAIN_FINALLY and attrcache_table_abandon: no other thread may use the table
 *    when these are called.) At most one deletion is handed off for each hold, so there are never
 *    more values that wait for their deletion than there are holds.
 *
 * 5. A set is one step. From then on every thread finds the new value; at no moment does one find
 *    none. The old value's delete_fn runs afterwards, and finds the new value attached. If it
 *    fails, set takes the new value back, unless another thread has used it by then (see
 *    attrcache_set).
 *
 * 6. Visible until gone. get finds an attribute until the delete_fn that a delete or free runs on
 *    it has succeeded. A concurrent delete of such a value succeeds at once, and hides it; a
 *    concurrent set attaches its own value at once. After either, a delete_fn that fails can't
 *    bring its value back: the value is gone, and the call that ran delete_fn returns its code.
 *
 * 7. Linearizable, attribute by attribute: the calls on it take effect in some serial order that
 *    agrees with their real-time order. Two calls count as two steps each. A delete that runs a
 *    delete_fn, or hands it off, begins (from then on borrow and copy_all find nothing) and ends
 *    (from then on get finds nothing, or the delete fails). A set whose delete_fn fails attaches
 *    its value and takes it back: get, set_if_absent, and a copy by DUP_FN may see it in between,
 *    but no thread ever holds it. copy_all and delete_all treat one attribute after the other, not
 *    all of them in one step.
 *
 * 8. Readers share nothing. Borrowing or copying a value writes no memory that another thread
 *    writes, except the first time that the value is held; so any number of threads may use one
 *    value. The cost falls on calls that delete or replace a value which was ever held: they look
 *    through what threads hold at that time. Copies and the first borrows of a value execute full
 *    fences. After some dozens of such borrows a thread makes the next value that it borrows light:
 *    from then on a borrow of that value costs plain stores and loads, and the call that deletes or
 *    replaces it executes a system call (membarrier), which takes a few microseconds, and another
 *    if it finds a holder. So a process that never borrows never calls it. (Borrowing and replacing
 *    in turn costs two to two and a half times what it costs with hazard pointers:
 *    bench/README.md.) See ATTRCACHE_FULL_FENCES.
 *
 * 9. Callbacks run only during a call, on the calling thread, with no lock held and no epoch
 *    pinned: they may call anything here, on any object, including the one that the call is about.
 *    In a single-threaded program that borrows nothing, each callback has run before the call that
 *    causes it returns.
 *
 * 10. Stale keyvals are recognized. A freed keyval serves the attributes attached under it until
 *    the last is gone; then it is STALE until its int is used again, after at least 16000 more
 *    creations. (Fewer only where nearly all 131008 keyvals of the kind are alive, or memory for
 *    more is refused: 256 for each one free.)
 *
 * 11. Bad arguments are errors: a keyval, a null pointer or a mode that isn't valid never crashes
 *    the library and never touches another object's attribute. (A pointer to memory that isn't what
 *    it should be is not recognized. But calls that attach to a table or move attributes to it
 *    refuse one that isn't aligned to 16 bytes.)
 *
 * 12. Cost follows what is there. What a call costs depends on the threads, holders and handed-off
 *    deletions that the domain has now, not on how many there once were; tests/budget counts it.
 *    An object keeps the memory for all attributes that it once had. A dup or free passes over it
 *    by the slots of 128 keyvals at a time, and a free releases it in a few large blocks: a dup
 *    and free of one attribute takes some 300 instructions, and 1,900 if there once were 10,000;
 *    a free of an empty object 170, and 6,500.
 *    Two exceptions: with attrcache_thread_hooks, deleters look at the records of all threads of the
 *    operating system that ever used the domain; and a value that is given back on another of these
 *    than it was borrowed on leaves an empty cell to look at, until the first one takes a further
 *    cell. While a thread is stopped as it removes the records of handed-off deletions that are
 *    over, about one in 128 of these stay.
 *
 * User-level threads: see attrcache_thread_hooks.
 *
 * Signals: only attrcache_get and its variants are async-signal-safe.
 *
 * Fork: the child may go on using a domain if no other thread was inside the library, or held a
 * borrow, at the fork. For guarantee 12, the parent's other threads count as living.
 */
#ifndef ATTRCACHE_ATTRCACHE_H_
#define ATTRCACHE_ATTRCACHE_H_

#include <stddef.h>
#include <stdint.h>

#define ATTRCACHE_VERSION_MAJOR 1
#define ATTRCACHE_VERSION_MINOR 0
#define ATTRCACHE_VERSION_PATCH 0
/* What follows the numbers until they are released; then it is empty. */
#define ATTRCACHE_VERSION_SUFFIX "-rc.1"
/* One comparable number: 10000 * major + 100 * minor + patch. */
#define ATTRCACHE_VERSION \
  (ATTRCACHE_VERSION_MAJOR * 10000 + ATTRCACHE_VERSION_MINOR * 100 + ATTRCACHE_VERSION_PATCH)

/* Only the shared library exports these functions. A program or library that embeds the static one,
 * or the sources, exports none of them. */
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
/* So that a function may examine, and refuse, any int that a C caller passes. */
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
  ATTRCACHE_ABSENT = 1,  /* the keyval exists, and nothing is attached under it */
  ATTRCACHE_PRESENT = 2, /* a value is attached already */

  ATTRCACHE_ERR_NULL = -1,              /* a null pointer where a value is required */
  ATTRCACHE_ERR_ARGUMENT = -2,          /* an argument outside its range */
  ATTRCACHE_ERR_KEYVAL_INVALID = -3,    /* the keyval is ATTRCACHE_KEYVAL_INVALID */
  ATTRCACHE_ERR_KEYVAL_UNKNOWN = -4,    /* no such keyval was ever created */
  ATTRCACHE_ERR_KEYVAL_STALE = -5,      /* the keyval was freed and is gone */
  ATTRCACHE_ERR_KEYVAL_KIND = -6,       /* the keyval belongs to another kind of object */
  ATTRCACHE_ERR_KEYVAL_PREDEFINED = -7, /* users may not set, delete or free a predefined keyval */

  ATTRCACHE_ERR_CALLBACK = -8,   /* a callback failed; its own code is returned beside this one */
  ATTRCACHE_ERR_REATTACHED = -9, /* callbacks went on attaching what was being deleted */
  ATTRCACHE_ERR_BUSY = -10,      /* the table, domain or keyval is still in use; try again */
  ATTRCACHE_ERR_FREED = -11,     /* a callback has freed the object, or the keyval was freed */
  ATTRCACHE_ERR_EXISTS = -12,    /* a predefined keyval has this number already */
  ATTRCACHE_ERR_THREAD = -13,    /* only the thread that borrowed a value may give it back */
  ATTRCACHE_ERR_MOVED = -14,     /* the table's bytes were copied or moved while it owned memory */

  ATTRCACHE_ERR_MEMORY = -15,            /* out of memory */
  ATTRCACHE_ERR_KEYVALS_EXHAUSTED = -16, /* 131008 keyvals of this kind are alive */
  ATTRCACHE_ERR_KINDS_EXHAUSTED = -17,   /* a domain has at most 16 kinds */
  ATTRCACHE_ERR_UNSUPPORTED = -18        /* this processor, or this library, can't do that */
};

/* The callback code for "a C++ exception left the callback, and was caught" (see catch_exceptions
 * in attrcache_domain_options). It is reserved for that: no callback may return it. MPI's error
 * codes aren't negative (MPI-4.1 section 9.4). */
#define ATTRCACHE_CALLBACK_THREW (-2147483647 - 1)

/* One line of English for a result of any function here; never null. Any thread; wait-free. */
ATTRCACHE_API const char* attrcache_strerror(int result) ATTRCACHE_NOEXCEPT;

/* ATTRCACHE_VERSION of the library that is running. Any thread; wait-free. */
ATTRCACHE_API int attrcache_version(void) ATTRCACHE_NOEXCEPT;

/* One line of English that says for which processor the library was built, in how many steps it
 * reads and writes a slot's 16 bytes there, and so how get and the other functions progress (see
 * "Progress" above). attrcache_domain_create checks whether the processor that it runs on can do
 * that. Never null. Any thread; wait-free. */
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
  /* For reports; must outlive the domain. Null: "communicator", "datatype", "window"; "object" for
   * a kind that is registered. */
  const char* name;
  /* Returns the Fortran INTEGER that stands for `object`, for Fortran callbacks. Null: the low bits
   * of `object`. */
  int (*fortran_handle)(void* object);
} attrcache_kind_options;

/* The kinds that every domain has. */
enum { ATTRCACHE_COMMUNICATOR = 0, ATTRCACHE_DATATYPE = 1, ATTRCACHE_WINDOW = 2 };

/* What a runtime keeps, by value, in each of its user-level threads. All-zero bytes are a new one;
 * no call creates or destroys one. It must not move, and must not end while the thread is inside a
 * function of this library or holds a borrowed value. */
typedef struct attrcache_thread {
  uint64_t opaque[4];
} attrcache_thread;

/* For runtimes whose user-level threads (Argobots, Qthreads) may be switched within a callback, or
 * may migrate between threads of the operating system. With these hooks, everything that this
 * header says of threads holds for user-level threads. Without them it holds for those of the
 * operating system, and a user-level thread must not be switched within a callback, nor while it
 * holds a borrowed value. */
typedef struct attrcache_thread_hooks {
  /* Returns the calling user-level thread's attrcache_thread, or null if the caller is none. */
  attrcache_thread* (*self)(void* context);
  void* context;
} attrcache_thread_hooks;

/* For runtimes whose users' callbacks may be C++. The function calls call(argument), once, and
 * returns 0; or, if an exception leaves that call, catches it and returns any other number. Every
 * callback of the domain then runs within such a call. One that throws fails with the code
 * ATTRCACHE_CALLBACK_THREW; what a destructor throws is discarded. attrcache::catch_exceptions, in
 * attrcache.hpp, is such a function. */
typedef int attrcache_catch_exceptions(void (*call)(void* argument), void* argument);

/* Where a domain and its tables get their memory from, for runtimes that trace memory or have pools
 * of their own. Any thread that uses the domain may call both functions, from within any function
 * here except get. They must not call this library. */
typedef struct attrcache_allocator {
  /* Returns that many bytes, at a multiple of `alignment` (16); null: out of memory. */
  void* (*allocate)(size_t bytes, size_t alignment, void* context);
  /* Takes back what `allocate` has returned; never null. */
  void (*release)(void* memory, void* context);
  void* context;
} attrcache_allocator;

/* Which ints a domain hands out as keyvals. For a runtime whose keyvals have always been other
 * ints; and for every MPI, so that an interposer with a domain of its own can tell its keyvals from
 * the MPI's. */
typedef struct attrcache_keyval_numbers {
  /* Keyvals are base to base + 0x1fffffff, as unsigned numbers; a multiple of 0x20000000. (From
   * 0x80000000 on, the ints are negative.) The default is ATTRCACHE_KEYVAL_MIN. */
  uint32_t base;
  /* What attrcache_keyval_free leaves in the variable, and what KEYVAL_INVALID is returned for. Not
   * one of the keyvals. */
  int invalid;
} attrcache_keyval_numbers;

typedef struct attrcache_domain_options {
  uint32_t size ATTRCACHE_SIZE(attrcache_domain_options);
  unsigned flags; /* ATTRCACHE_TELL, ATTRCACHE_FULL_FENCES, or 0 */
  /* Options of the three kinds above; null: the defaults (pointer handles). */
  const attrcache_kind_options* communicator;
  const attrcache_kind_options* datatype;
  const attrcache_kind_options* window;
  /* Copied. Null: threads are those of the operating system. `self` must be given. */
  const attrcache_thread_hooks* threads;
  /* Null: no exception ever leaves a callback. */
  attrcache_catch_exceptions* catch_exceptions;
  /* Copied. Null: keyvals are ATTRCACHE_KEYVAL_MIN to _MAX, and ATTRCACHE_KEYVAL_INVALID is the
   * invalid one. */
  const attrcache_keyval_numbers* numbers;
  /* How many bytes a Fortran INTEGER and LOGICAL have: 4, or 8 (-fdefault-integer-8); 0 means 4.
   * Fortran callbacks get INTEGERs of that size, by reference. With 8, ATTRCACHE_AS_FINT means the
   * same as ATTRCACHE_AS_AINT, and attrcache_get_aint reads an INTEGER; so 8 is UNSUPPORTED where
   * an address has 4 bytes. */
  int fint_bytes;
  /* How a LOGICAL represents .FALSE.; a flag that a Fortran copy_fn sets to anything else is
   * true. */
  int fortran_false;
  /* Copied. Null: malloc and free. Both functions must be given. */
  const attrcache_allocator* allocator;
} attrcache_domain_options;

enum {
  /* Report what MPI's standard leaves open: attrcache_delete returns ABSENT instead of OK if
   * nothing was attached, and attrcache_keyval_free if the keyval had been freed before. */
  ATTRCACHE_TELL = 1,
  /* Each borrow and copy executes a full fence, so that a call that deletes a value they held needs
   * none by the kernel (membarrier): for processes in which the kernel's fence is expensive or not
   * wanted. The library does so anyway where the kernel has none. */
  ATTRCACHE_FULL_FENCES = 2
};

/* Creates a domain. `options` may be null. Errors: NULL (domain), ARGUMENT (a size, threads,
 * numbers, fint_bytes, flags, allocator, a kind's handle), MEMORY, UNSUPPORTED. Any thread;
 * lock-free. */
ATTRCACHE_API int attrcache_domain_create(const attrcache_domain_options* options,
                                          attrcache_domain** domain) ATTRCACHE_NOEXCEPT;

/* What still existed in a domain when it was destroyed, or kept it from being destroyed. */
typedef struct attrcache_leaks {
  uint32_t size ATTRCACHE_SIZE(attrcache_leaks);
  uint64_t keyvals;       /* created and never freed, not counting predefined ones */
  uint64_t freed_keyvals; /* freed, and kept alive by attributes */
  uint64_t attributes;    /* attached, or handed off to a holder */
} attrcache_leaks;

typedef enum attrcache_destroy_mode ATTRCACHE_ENUM_BASE {
  /* Fails with BUSY, and changes nothing, if there are still attributes. If only a destructor that
   * it runs attaches some, it fails with BUSY when these have run. */
  ATTRCACHE_DESTROY_IF_UNUSED = 0,
  /* Abandons attached values, without calling their callbacks. Runs deletions that were handed off
   * and haven't run yet, and those that their delete_fns hand off, in at most 16 rounds. */
  ATTRCACHE_DESTROY_ANYWAY = 1
} attrcache_destroy_mode;

/* Destroys a domain and frees the keyvals that are left. Their destructors run, except those of
 * keyvals whose attributes are abandoned; keyvals that the destructors create are freed too, in at
 * most 16 rounds. `leaks` (may be null) is filled on OK and BUSY. Kinds end with their domain, so
 * delete everything in every table first (attrcache_delete_all). Afterwards only a table that is as
 * new may be freed; the memory of any other is lost. Errors: NULL, ARGUMENT (mode, leaks->size),
 * BUSY. No other thread, and no callback up the stack, may be using the domain. Lock-free; runs
 * destructors, and delete_fns that were handed off. */
ATTRCACHE_API int attrcache_domain_destroy(attrcache_domain* domain, attrcache_destroy_mode mode,
                                           attrcache_leaks* leaks) ATTRCACHE_NOEXCEPT;

/* Finds the kind with a number: ATTRCACHE_COMMUNICATOR, _DATATYPE, _WINDOW, or 3, 4, ... in the
 * order of registration. It is valid as long as the domain. Errors: NULL, ARGUMENT (no such kind).
 * Any thread; wait-free. */
ATTRCACHE_API int attrcache_kind_of(attrcache_domain* domain, int number,
                                    attrcache_kind** kind) ATTRCACHE_NOEXCEPT;

/* Registers one more kind of object (file, session, task, ...). `options` may be null. Errors:
 * NULL, ARGUMENT (size, handle), KINDS_EXHAUSTED, UNSUPPORTED (options), MEMORY. Any thread;
 * lock-free. */
ATTRCACHE_API int attrcache_kind_register(attrcache_domain* domain,
                                          const attrcache_kind_options* options,
                                          attrcache_kind** kind) ATTRCACHE_NOEXCEPT;

/* Says which ints are keyvals in the kind's domain. Errors: NULL. Any thread; wait-free. */
ATTRCACHE_API int attrcache_kind_numbers(const attrcache_kind* kind,
                                         attrcache_keyval_numbers* numbers) ATTRCACHE_NOEXCEPT;

/* ---- Keyvals ------------------------------------------------------------------------------- */

/* Never the keyval of anything, so a variable may be initialized with it. (In a domain that has
 * `numbers`, `invalid` takes its place.) [C] */
#define ATTRCACHE_KEYVAL_INVALID 0

/* Keyvals are opaque. Unless the domain has `numbers`, they lie between these two, inclusive: a
 * range that Open MPI, MPICH and the MPI-5 ABI don't use. */
#define ATTRCACHE_KEYVAL_MIN 0x40000000
#define ATTRCACHE_KEYVAL_MAX 0x5fffffff

/* The calling convention of a keyval's callbacks. [L] */
typedef enum attrcache_language ATTRCACHE_ENUM_BASE {
  ATTRCACHE_C = 0,            /* attrcache_copy_fn, or attrcache_copy_int_fn for int handles */
  ATTRCACHE_FORTRAN_FINT = 1, /* MPI-1 style: INTEGER values and extra_state, all by reference */
  ATTRCACHE_FORTRAN_AINT = 2, /* MPI-2 style and mpi_f08: INTEGER(KIND=MPI_ADDRESS_KIND) */
  ATTRCACHE_RAW = 3           /* attrcache_copy_raw_fn, for the bindings of a runtime */
} attrcache_language;

/* The type as which a value was set. [L] */
typedef enum attrcache_tag ATTRCACHE_ENUM_BASE {
  ATTRCACHE_AS_POINTER = 0, /* a C pointer; C reads the pointer */
  ATTRCACHE_AS_INT = 1,     /* a C int (predefined attributes); C reads the address of an int */
  ATTRCACHE_AS_FINT = 2,    /* a Fortran INTEGER; C reads the address of one */
  ATTRCACHE_AS_AINT = 3     /* an INTEGER(KIND=MPI_ADDRESS_KIND); C reads the address of one */
} attrcache_tag;

/* Any callback: cast to this from one of the types below, which `language` and the kind's handle
 * form select. C callbacks return 0 for success, any other code for failure; Fortran ones set
 * *ierror. Where C reads a value at its address, callbacks get the address of a copy, which lasts
 * as long as the call. */
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
/* They get values as they were set, not as C reads them, and `object` as the caller passed it, even
 * if handles are ints. `context` is that of the keyval's attrcache_callbacks. On entry *tag_out is
 * `tag`; *value_out and *flag are 0. */
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

/* Flags of attrcache_callbacks. */
enum {
  /* delete_fn is a destructor: it runs once for each value, which is gone even if it fails. The
   * call that ran it returns CALLBACK all the same. After attrcache_delete nothing is attached
   * then. After attrcache_set nothing is attached either, and the caller still owns the new value.
   * attrcache_delete_all with STOP_AT_FAILURE stops after that attribute, and a second call goes on
   * with the others. (Beyond MPI: mpi-forum/mpi-issues #839.) */
  ATTRCACHE_DELETE_ONCE = 1
};

typedef struct attrcache_callbacks {
  uint32_t size ATTRCACHE_SIZE(attrcache_callbacks);
  unsigned flags; /* ATTRCACHE_DELETE_ONCE, or 0 */
  attrcache_language language;
  attrcache_callback* copy_fn;
  attrcache_callback* delete_fn;
  /* Passed to both. For Fortran callbacks, the value itself: they get the address of a copy, which
   * lives as long as the keyval. */
  void* extra_state;
  /* Called once, when the keyval is gone: freed, and its last attribute deleted; by the thread that
   * did the later of the two. May be null. */
  void (*destructor)(void* extra_state, void* context);
  void* context; /* the runtime's own, for raw callbacks and the destructor */
} attrcache_callbacks;

/* Creates a keyval of `kind`. `callbacks` may be null: nothing is copied, and deleting calls
 * nothing. Errors: NULL, ARGUMENT (size, flags, language; DUP_FN as delete_fn), MEMORY,
 * KEYVALS_EXHAUSTED, UNSUPPORTED (callbacks). Any thread; lock-free. [C MPI_COMM_CREATE_KEYVAL and
 * its kin] */
ATTRCACHE_API int attrcache_keyval_create(attrcache_kind* kind,
                                          const attrcache_callbacks* callbacks,
                                          int* keyval) ATTRCACHE_NOEXCEPT;

/* Replaces all callbacks of a keyval before its first use, for runtimes that learn of the language,
 * or of wrappers, only after they have created it. May be called only by the creating thread,
 * before it publishes the keyval (other threads may list keyvals meanwhile). No destructor runs for
 * the old callbacks. It takes a record of 88 bytes until the keyval is gone. Errors: NULL,
 * KEYVAL_*, ARGUMENT (as attrcache_keyval_create), MEMORY, UNSUPPORTED (callbacks), BUSY (it was
 * used in a set), FREED. Lock-free. */
ATTRCACHE_API int attrcache_keyval_set_callbacks(
    attrcache_kind* kind, int keyval, const attrcache_callbacks* callbacks) ATTRCACHE_NOEXCEPT;

/* Frees a keyval and sets the variable to ATTRCACHE_KEYVAL_INVALID. While an attribute is attached
 * under it, the keyval goes on serving all calls (through a saved copy of the int); it is gone with
 * the last one (guarantee 10). Freeing a keyval that is freed and still in use succeeds. (In a
 * domain with ATTRCACHE_TELL it returns ABSENT: exactly one of all calls returns OK.) When two
 * threads free it at the same time, it is gone when both have returned. Errors: NULL, KEYVAL_*. Any
 * thread; lock-free; may run the destructor. [C MPI_COMM_FREE_KEYVAL] */
ATTRCACHE_API int attrcache_keyval_free(attrcache_kind* kind, int* keyval) ATTRCACHE_NOEXCEPT;

/* ---- Attributes ---------------------------------------------------------------------------- */

/* What a runtime embeds in each object. All-zero bytes are a valid empty table; no call creates or
 * destroys one. Aligned to 64 bytes it occupies one cache line; it must be aligned to 16. Its bytes
 * may be copied or moved only while it is as new: before the first attrcache_set on it, or
 * attrcache_copy_all to it, whatever that returns; and after attrcache_delete_all has succeeded. In
 * between it may own memory, even after every attribute was deleted, or when none was ever
 * attached; attrcache_table_move moves it then. (attrcache_copy_all and attrcache_delete_all return
 * MOVED if they find a table with another one's memory. A table with up to three attributes has
 * none: after `struct b = a` each of their values is deleted twice, and nothing notices. In C++,
 * attrcache::Attributes in attrcache.hpp forbids such copies.) It belongs to one kind of one
 * domain: don't use another domain's keyvals on it, which may be the same ints. */
typedef struct attrcache_table {
  ATTRCACHE_ALIGNAS(16) uint64_t opaque[8];
} attrcache_table;

/* Whether a table is aligned as it must be, for an assertion where objects are allocated. Any
 * thread; wait-free; inline. */
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

/* Whether nothing was attached to a table since it was new, so that attrcache_copy_all from it and
 * attrcache_delete_all on it would do nothing. Returns 0 for a table that may own memory, because
 * its attributes have all been deleted one by one, or a set or copy_all attached nothing. Any
 * thread; wait-free; inline, four instructions, so that a runtime can ask for every object. */
static inline int attrcache_table_is_empty(const attrcache_table* table) ATTRCACHE_NOEXCEPT {
#if defined(__GNUC__)
  return (__atomic_load_n(&table->opaque[0], __ATOMIC_RELAXED) |
          __atomic_load_n(&table->opaque[1], __ATOMIC_RELAXED)) == 0;
#else
  const volatile uint64_t* words = table->opaque;
  return (words[0] | words[1]) == 0;
#endif
}

/* Attaches a pointer under `keyval`, in one step (guarantee 5); then the old value's delete_fn
 * runs, unless that is handed off (guarantee 4). If delete_fn fails, the old value is attached
 * again, the call returns CALLBACK, and the caller still owns the new value. (The old one keeps its
 * place in the order of setting, except after each 256th such failure: then it is the youngest.) If
 * another call has held, replaced or deleted the new value meanwhile, or tried to, or delete_fn has
 * freed the object, it is too late for that: the set has succeeded, the old value is gone, and the
 * call returns OK. With ATTRCACHE_DELETE_ONCE the old value is gone in any case. `callback_code`
 * may be null; it is written only if a delete_fn has failed, with what that returned: beside
 * CALLBACK or OK. Errors: NULL (kind, table), ARGUMENT (the table isn't aligned), KEYVAL_*, MEMORY,
 * CALLBACK, REATTACHED (the call is nested in 16 others, each a set of this attribute within the
 * delete_fn of the one before). Any thread; lock-free; runs delete_fn, perhaps the destructor. [C
 * MPI_COMM_SET_ATTR] */
ATTRCACHE_API int attrcache_set(attrcache_kind* kind, attrcache_table* table, void* object,
                                int keyval, void* value, int* callback_code) ATTRCACHE_NOEXCEPT;

/* The same for a value of any type, which `tag` says; of an int or Fint only the low 32 bits count
 * (but see fint_bytes). Errors: also ARGUMENT (tag). [L] */
ATTRCACHE_API int attrcache_set_as(attrcache_kind* kind, attrcache_table* table, void* object,
                                   int keyval, intptr_t value, attrcache_tag tag,
                                   int* callback_code) ATTRCACHE_NOEXCEPT;

/* Attaches a value if nothing is attached, or if what is attached is being deleted. Otherwise it
 * changes nothing, and returns PRESENT; *present, if `present` isn't null, is then what
 * attrcache_get would give, and may be deleted as soon as another thread likes, just as there. One
 * step (guarantee 7): of any number of threads that call this at once, exactly one attaches. For a
 * library that finds nothing on an object and wants to be the one that makes it: with get and then
 * set, two threads may both find nothing, and the second's set deletes what the first is using
 * already. A pointer is passed as (intptr_t)pointer, ATTRCACHE_AS_POINTER. Errors: as
 * attrcache_set_as, except CALLBACK and REATTACHED. Any thread; lock-free; calls nothing back,
 * except perhaps the destructor of a keyval that is freed meanwhile. (Beyond MPI.) */
ATTRCACHE_API int attrcache_set_if_absent(attrcache_kind* kind, attrcache_table* table,
                                          void* object, int keyval, intptr_t value,
                                          attrcache_tag tag, void** present) ATTRCACHE_NOEXCEPT;

/* Reads an attribute as C does: OK and the value (or its address, see attrcache_tag), or ABSENT,
 * which leaves *value alone. An address stays valid as long as the attribute is attached. Nothing
 * keeps alive what a pointer points to: another thread's set or delete may end it at once
 * (attrcache_borrow). A value whose delete_fn is running is still found (guarantee 6). If `kind` is
 * another kind of the same domain, that is noticed only if no value is found. Errors: NULL,
 * KEYVAL_*. Any thread; wait-free: no atomic read-modify-write, no fence, no store except to
 * *value. (For exceptions on some processors see "Progress" at the top.) Allocates nothing, and
 * calls nothing except the function of a predefined keyval that has one (ATTRCACHE_COMPUTED). [C
 * MPI_COMM_GET_ATTR] */
ATTRCACHE_API int attrcache_get(const attrcache_kind* kind, const attrcache_table* table,
                                int keyval, void** value) ATTRCACHE_NOEXCEPT;

/* attrcache_get for a keyval as it would be in a domain without `numbers`: what
 * attrcache_get_with_base calls. Errors: NULL (of a kind only if nothing is found), KEYVAL_*. Any
 * thread; wait-free. */
ATTRCACHE_API int attrcache_get_renumbered(const attrcache_kind* kind, const attrcache_table* table,
                                           int keyval, void** value) ATTRCACHE_NOEXCEPT;

/* attrcache_get in two or three instructions less, for callers that know the `base` of their
 * domain's `numbers` (ATTRCACHE_KEYVAL_MIN, if it has none) as a constant. With another base than
 * the domain's, it finds another keyval's value, or none. Errors: NULL (of a kind only if nothing
 * is found), KEYVAL_*. Any thread; wait-free; inline. */
static inline int attrcache_get_with_base(const attrcache_kind* kind, const attrcache_table* table,
                                          uint32_t base, int keyval,
                                          void** value) ATTRCACHE_NOEXCEPT {
  return attrcache_get_renumbered(
      kind, table,
      ATTRCACHE_CAST(int, ATTRCACHE_CAST(uint32_t, keyval) ^ base ^
                              ATTRCACHE_CAST(uint32_t, ATTRCACHE_KEYVAL_MIN)),
      value);
}

/* Reads an attribute as attrcache_get does, but as a Fortran INTEGER (MPI-1 style): the low bits of
 * what is attached. Errors: NULL, KEYVAL_*. Any thread; wait-free. [L] */
ATTRCACHE_API int attrcache_get_fint(const attrcache_kind* kind, const attrcache_table* table,
                                     int keyval, int* value) ATTRCACHE_NOEXCEPT;

/* Reads an attribute as attrcache_get does, but as an INTEGER(KIND=MPI_ADDRESS_KIND): all of it,
 * ints sign-extended. Errors: NULL, KEYVAL_*. Any thread; wait-free. [L] */
ATTRCACHE_API int attrcache_get_aint(const attrcache_kind* kind, const attrcache_table* table,
                                     int keyval, intptr_t* value) ATTRCACHE_NOEXCEPT;

/* Runs delete_fn and detaches the attribute, which get finds until delete_fn has succeeded
 * (guarantee 6). If it fails, the attribute stays attached (but see ATTRCACHE_DELETE_ONCE) and the
 * call returns CALLBACK. If others hold the value, it is detached at once, and its deletion handed
 * off (guarantee 4). If nothing is attached: OK (ABSENT in a domain with ATTRCACHE_TELL). If the
 * value is already being deleted, by another thread or up this one's stack: OK at once, and get no
 * longer finds it. Errors: NULL, KEYVAL_*, CALLBACK, MEMORY (if this thread has more borrows,
 * copies and deletions under way than ever before in the domain, or others may hold the value). Any
 * thread; lock-free; runs delete_fn, perhaps the destructor. [C MPI_COMM_DELETE_ATTR] */
ATTRCACHE_API int attrcache_delete(attrcache_kind* kind, attrcache_table* table, void* object,
                                   int keyval, int* callback_code) ATTRCACHE_NOEXCEPT;

/* Duplicates an object's attributes: for every attribute of `old_table`, in the order of setting,
 * runs copy_fn (with `old_object`) and attaches what it returns with flag = true to `new_table`. If
 * one fails, everything attached to new_table is deleted again (delete_fn gets `new_object`),
 * new_table is left empty, and the call returns CALLBACK or the error that stopped it. The call may
 * skip an attribute whose deletion another thread has begun; it copies one whose delete_fn is
 * running up this thread's own stack. Of one that is being replaced it copies the old value or the
 * new one. The order has two limits: 2^35 attachments to an object; and if more than 10 attributes
 * find no memory to be listed, only each ten of them are in order, here and in
 * attrcache_delete_all. This thread holds a value while copy_fn reads it (guarantee 3), and then
 * runs a deletion that was handed off to it meanwhile (guarantee 4). copy_fn gets a copy of a
 * value that C reads at its address; a C copy_fn that returns this address copies the value and its
 * tag, as DUP_FN does. No other thread may use new_table meanwhile. If callbacks use it, a call
 * that fails may leave values there that they attach again and again, and hands off the deletion of
 * what they have borrowed (guarantee 4). And if a copy_fn attaches a value there under its own
 * keyval, and that can't be replaced by what the copy_fn returns, then what it returns is lost.
 * Errors: NULL, ARGUMENT (the two tables are one), KEYVAL_KIND (attributes of another kind),
 * CALLBACK, MEMORY, MOVED, FREED (a callback has freed one of the objects, whose memory isn't
 * touched any more; if that was the new one, what this copy_fn has returned is attached nowhere),
 * and those of attrcache_set. Any thread; lock-free; runs copy_fn, and delete_fn after a failure.
 * [C MPI_COMM_DUP] */
ATTRCACHE_API int attrcache_copy_all(attrcache_kind* kind, attrcache_table* old_table,
                                     void* old_object, attrcache_table* new_table, void* new_object,
                                     int* callback_code) ATTRCACHE_NOEXCEPT;

typedef enum attrcache_delete_mode ATTRCACHE_ENUM_BASE {
  /* Stop at the first delete_fn that fails: its attribute (but see ATTRCACHE_DELETE_ONCE) and those
   * not yet deleted stay attached, and a second call goes on from there. */
  ATTRCACHE_STOP_AT_FAILURE = 0,
  /* Call every delete_fn, detach every attribute, and return the first failure. */
  ATTRCACHE_DRAIN = 1,
  /* As DRAIN, but the table is as new whatever the call returns: for destructors, which can't be
   * called again. The caller is alone with the table, as for attrcache_table_abandon. It abandons,
   * without calling delete_fn, values that are held, deletions that were handed off, what
   * callbacks have attached after 16 rounds, and attributes of another kind. */
  ATTRCACHE_DRAIN_FINALLY = 2
} attrcache_delete_mode;

/* Frees an object's attributes: deletes every one, in the reverse order of setting, and releases
 * the table's memory; the table is then as new. Attributes that callbacks attach meanwhile are
 * deleted too, in at most 16 rounds; then the call returns REATTACHED and the table stays as it is.
 * It returns BUSY at once while another thread is within a deletion on the table, or a holder has
 * yet to run one; and at the first value that is held, which stays attached with all older ones. It
 * doesn't wait; a second call goes on from there, and calls nothing twice. Whatever it returns,
 * *callback_code has the code of the first delete_fn that failed, if one has; otherwise it is left
 * alone. Only the object's owner may call this: see the rule for threads at the top. Errors: NULL,
 * ARGUMENT (mode), CALLBACK, and those after which the table isn't as new in any mode but
 * DRAIN_FINALLY: MOVED, REATTACHED, BUSY, KEYVAL_KIND (attributes of another kind). What was
 * deleted before an error stays deleted. Lock-free; runs delete_fn, perhaps destructors.
 * [C MPI_COMM_FREE; F] */
ATTRCACHE_API int attrcache_delete_all(attrcache_kind* kind, attrcache_table* table, void* object,
                                       attrcache_delete_mode mode,
                                       int* callback_code) ATTRCACHE_NOEXCEPT;

/* What attrcache_delete_each tells of an attribute: `code` is what its delete_fn returned, or 0 if
 * there was none to call. It may call anything that a callback may. */
typedef void attrcache_deleted_fn(void* context, int keyval, int code);

/* As attrcache_delete_all, and calls deleted_fn(context, ...) after each delete_fn, and for each
 * attribute that is deleted without one, before it goes on: for runtimes that answer for failures
 * by a rule of their own (MPICH returns the last one, say). Only the object's owner may call this.
 * Errors as there, and NULL also for deleted_fn. Lock-free; runs deleted_fn, delete_fn, perhaps
 * destructors. (Beyond MPI.) */
ATTRCACHE_API int attrcache_delete_each(attrcache_kind* kind, attrcache_table* table, void* object,
                                        attrcache_delete_mode mode,
                                        attrcache_deleted_fn* deleted_fn,
                                        void* context) ATTRCACHE_NOEXCEPT;

/* Gives up everything in a table without calling delete_fn, for a runtime that ends while objects
 * still live. The table releases its memory and its references on keyvals, and is as new. (So
 * keyvals that were freed before may end; their destructors run, since they belong to the keyvals
 * and not to the values.) Deletions that were handed off are given up, too. Only the object's
 * owner may call this, before the domain ends, and no other thread may be within a call on the
 * table, not even within a delete_fn that its set or delete runs. A value that is still borrowed
 * must be given back before its memory is used again: the table's, or what the library had
 * allocated for it (so before another table of the domain grows). Otherwise the library may take
 * what is attached there for what was borrowed.
 * Errors: NULL, KEYVAL_KIND (attributes of another kind: the references on their keyvals are lost),
 * MOVED (its bytes are made new, and the memory stays with the table that owns it); after these two
 * the table is as new as well. Lock-free; may run destructors. (Beyond MPI.) */
ATTRCACHE_API int attrcache_table_abandon(attrcache_kind* kind,
                                          attrcache_table* table) ATTRCACHE_NOEXCEPT;

/* Moves a table that no other thread uses, with its attributes, to one that is as new; `from` is as
 * new afterwards. Addresses that get has returned of values that were not set as C pointers become
 * invalid. Errors: NULL, ARGUMENT (both are one, or `to` isn't as new or not aligned), MOVED, BUSY
 * (a value is being copied or deleted, or one with a delete_fn is borrowed, or a callback up the
 * stack is on one of the two). No other thread may use either. Lock-free; calls nothing back.
 * (Beyond MPI: for runtimes whose objects move.) */
ATTRCACHE_API int attrcache_table_move(attrcache_kind* kind, attrcache_table* from,
                                       attrcache_table* to) ATTRCACHE_NOEXCEPT;

/* A borrowed value. Zero it before its first use (`= {0}`). attrcache_borrow fills it; it must not
 * move until it is given back. */
typedef struct attrcache_borrowed {
  void* value; /* as attrcache_get gives it */
  uint64_t opaque[5];
} attrcache_borrowed;

/* Reads an attribute as attrcache_get does, and holds the value until the same thread calls
 * attrcache_give_back (guarantee 3), even if others, or this thread, delete or replace it meanwhile
 * (guarantee 4). ABSENT once a deletion has begun, though get still finds the value until delete_fn
 * has succeeded. A value that C reads at its address, unless it is predefined, is copied into
 * *borrowed. Errors: NULL, ARGUMENT (*borrowed still holds a value of this thread in this domain),
 * KEYVAL_*, MEMORY (if the thread has more under way than ever before, as attrcache_delete), FREED
 * (a delete_fn that it ran has freed the object). Any thread; lock-free. Calls nothing back, unless
 * an attempt of its own made it the last holder of a value being deleted, whose delete_fn it then
 * runs. (Beyond MPI.) */
ATTRCACHE_API int attrcache_borrow(attrcache_kind* kind, attrcache_table* table, int keyval,
                                   attrcache_borrowed* borrowed) ATTRCACHE_NOEXCEPT;

/* Ends a borrow, before the domain ends. If the value was deleted or replaced meanwhile, and no
 * other thread holds it, this runs its delete_fn, and perhaps the keyval's destructor (guarantee
 * 4). Errors: NULL, ARGUMENT (not borrowed, given back already, or a copy of an attrcache_borrowed;
 * not one that was put back into its place), THREAD. Apart from those callbacks it is wait-free,
 * unless the deletion of the value has been handed off: then it is lock-free, since others may
 * begin and end holds, and hand off deletions, faster than this call can look through them. (Beyond
 * MPI.) */
ATTRCACHE_API int attrcache_give_back(attrcache_borrowed* borrowed) ATTRCACHE_NOEXCEPT;

/* ---- Predefined attributes ----------------------------------------------------------------- */

/* Attributes that only the runtime sets, such as MPI_TAG_UB. User code can read and borrow them, in
 * every language, but setting, deleting and freeing them is an error (PREDEFINED). The runtime
 * chooses the numbers of their keyvals (compile-time constants, for example), and they take no
 * place in a table. This says where the values of one are. */
typedef enum attrcache_where ATTRCACHE_ENUM_BASE {
  /* One value, the same on every object of the kind (MPI_TAG_UB, if it is the process's). */
  ATTRCACHE_PER_KIND = 0,
  /* Where a function of the runtime says, at each read (MPI_WIN_SIZE, which the window has
   * anyway). */
  ATTRCACHE_COMPUTED = 1
} attrcache_where;

/* Returns where the COMPUTED value of the object with this table is now: the address of an int (tag
 * AS_INT), of a pointer (AS_POINTER) or of an intptr_t (AS_AINT); null: the object has none. The
 * memory must hold a value as long as a thread may read what it got. get and borrow call it, in any
 * thread, at any time until the domain ends. It must not wait, and may use the table only to find
 * the object. */
typedef const void* attrcache_compute_fn(const attrcache_table* table, void* context);

typedef struct attrcache_predefined {
  uint32_t size ATTRCACHE_SIZE(attrcache_predefined);
  /* Any int except the domain's own keyvals and its invalid value. */
  int number;
  attrcache_tag tag; /* AS_INT (MPI_TAG_UB), AS_POINTER (MPI_WIN_BASE) or AS_AINT (MPI_WIN_SIZE) */
  attrcache_where where;
  /* PER_KIND: the value, as attrcache_set_predefined would set it. */
  intptr_t value;
  /* COMPUTED. */
  attrcache_compute_fn* compute;
  void* context;
} attrcache_predefined;

/* Defines a predefined keyval, which then lasts as long as the domain. Call this when the runtime
 * initializes. (If the keyval has no value any more once the runtime finalizes, make it COMPUTED
 * and return null.) A PER_KIND value that a reader got, or its address if C reads that, stays valid
 * until the domain ends; attrcache_set_predefined changes what the address holds, in one step. A
 * kind can have 48 of them, of 64 bytes each.
 * Errors: NULL, ARGUMENT (size, number, tag, where; compute, which COMPUTED needs and PER_KIND must
 * not have), EXISTS, MEMORY, KEYVALS_EXHAUSTED (48 are defined), UNSUPPORTED (predefined). Any
 * thread; lock-free. [L] */
ATTRCACHE_API int attrcache_keyval_define(
    attrcache_kind* kind, const attrcache_predefined* predefined) ATTRCACHE_NOEXCEPT;

/* Changes the value of a PER_KIND keyval, which is given as for attrcache_set_as: gets from now on,
 * and addresses that gets have returned, read the new one. Errors: NULL, KEYVAL_*, ARGUMENT (a
 * keyval that isn't PER_KIND). Any thread; wait-free. [L] */
ATTRCACHE_API int attrcache_set_predefined(attrcache_kind* kind, int keyval,
                                           intptr_t value) ATTRCACHE_NOEXCEPT;

/* ---- Introspection -------------------------------------------------------------------------
 *
 * A thread within these functions blocks no other, even if it is stopped there for ever. But while
 * it is stopped within attrcache_keyval_describe, one record of at most 88 bytes can't be released
 * for each keyval that is freed. The other functions hold back nothing. */

typedef struct attrcache_keyval_info {
  uint32_t size ATTRCACHE_SIZE(attrcache_keyval_info);
  int keyval;
  int freed; /* freed, and kept alive by its attributes */
  int predefined;
  /* Attached now, or handed off. Exact if no thread attaches, deletes or frees the keyval
   * meanwhile. */
  uint64_t attributes;
} attrcache_keyval_info;

typedef struct attrcache_attribute_info {
  uint32_t size ATTRCACHE_SIZE(attrcache_attribute_info);
  int keyval;
  intptr_t value;
  uint64_t holders; /* how often it is held; while others borrow or give back, it may be more */
  attrcache_tag tag;
  int deleting; /* its delete_fn is running */
} attrcache_attribute_info;

typedef struct attrcache_counters {
  uint32_t size ATTRCACHE_SIZE(attrcache_counters);
  /* Since the domain was created, not counting predefined ones. */
  uint64_t keyvals_created;
  uint64_t keyvals_freed; /* of them, freed by attrcache_keyval_free */
  uint64_t keyvals_gone;  /* of those, gone: their last attribute was deleted */
  uint64_t attributes;    /* of all keyvals, as above */
  uint64_t reclaimable;   /* records of keyvals that a thread within introspection holds back */
} attrcache_counters;

/* Lists the keyvals of a kind, in the order of their index, and then the predefined ones: fills at
 * most `capacity` of `infos` (null only with capacity 0) and sets *count to how many there are.
 * Errors: NULL, ARGUMENT (size). Any thread; lock-free. */
ATTRCACHE_API int attrcache_keyval_list(attrcache_kind* kind, attrcache_keyval_info* infos,
                                        size_t capacity, size_t* count) ATTRCACHE_NOEXCEPT;

/* Describes one keyval, and its callbacks (those of a predefined one are null). Either pointer may
 * be null. Errors: NULL (kind), ARGUMENT (size), KEYVAL_*. Any thread; lock-free. */
ATTRCACHE_API int attrcache_keyval_describe(attrcache_kind* kind, int keyval,
                                            attrcache_keyval_info* info,
                                            attrcache_callbacks* callbacks) ATTRCACHE_NOEXCEPT;

/* Lists the attributes of a table, in the order of setting, as attrcache_keyval_list does; without
 * predefined ones, which are in no table. Errors: NULL, ARGUMENT (size). Any thread; lock-free. */
ATTRCACHE_API int attrcache_attribute_list(attrcache_kind* kind, const attrcache_table* table,
                                           attrcache_attribute_info* infos, size_t capacity,
                                           size_t* count) ATTRCACHE_NOEXCEPT;

/* Reads a domain's counters. Errors: NULL, ARGUMENT (size). Any thread; lock-free. */
ATTRCACHE_API int attrcache_domain_counters(attrcache_domain* domain,
                                            attrcache_counters* counters) ATTRCACHE_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ATTRCACHE_ATTRCACHE_H_ */
