/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * attrcache_get_at_once: the common case of attrcache_get, inlined into its caller, for runtimes
 * written in C11 (or C++) whose get should cost no call. (The library's own attrcache_get is made
 * of the same parts.)
 *
 * It depends on the layout of a table, which is not part of the binary interface. So it is only for
 * programs that link the static library, or compile its sources, of this very version and with the
 * same -D options; otherwise the program doesn't link (attrcache_inline_fits_...). With the shared
 * library, use attrcache_get.
 *
 * It covers the attributes under the first 64 keyvals of a kind. lib/c_api/inline_fits.cc compares
 * the constants here with the library's own.
 */
#ifndef ATTRCACHE_ATTRCACHE_INLINE_H_
#define ATTRCACHE_ATTRCACHE_INLINE_H_

#include "attrcache.h"

#if !defined(__GNUC__)
#error "attrcache/attrcache_inline.h needs gcc or clang; attrcache/attrcache.h does not"
#endif

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast" /* it is C */
extern "C" {
#endif

/* Which 16-byte load: SSE's, or one that fits every other build of the library. */
#if !defined(__x86_64__) || defined(ATTRCACHE_PAIR_TWO_STEP) || defined(ATTRCACHE_PAIR_TWO_WORDS)
#define ATTRCACHE_INLINE_STEPS 1
#endif

/* Tells ThreadSanitizer, which doesn't see the load, what that acquires (pair_one_swap.h). */
#if defined(__SANITIZE_THREAD__)
#define ATTRCACHE_INLINE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ATTRCACHE_INLINE_TSAN 1
#endif
#endif
#ifdef ATTRCACHE_INLINE_TSAN
__attribute__((visibility("default"))) void __tsan_acquire(void* address);
#endif

#ifdef ATTRCACHE_INLINE_STEPS
#define ATTRCACHE_INLINE_FITS attrcache_inline_fits_steps_1
#else
#define ATTRCACHE_INLINE_FITS attrcache_inline_fits_sse_1
#endif
extern const char ATTRCACHE_INLINE_FITS;
static const char* const attrcache_inline_fits __attribute__((used)) = &ATTRCACHE_INLINE_FITS;

enum {
  ATTRCACHE_INLINE_SLOTS_AT = 16,   /* where a table's first slots begin */
  ATTRCACHE_INLINE_SLOTS_END = 48,  /* smaller offsets are in those slots */
  ATTRCACHE_INLINE_NEAR_END = 1024, /* smaller offsets are in leaves of the directory */
  ATTRCACHE_INLINE_LEAF_SHIFT = 7,  /* from an offset to its leaf's number */
  ATTRCACHE_INLINE_IN_LEAF = 0x70,  /* the part of an offset that is within the leaf */
  ATTRCACHE_INLINE_TREE = 8,        /* where a directory has its tree, in pointers */
  ATTRCACHE_INLINE_FANOUT_BITS = 4, /* of a leaf's number, for each level of the tree */
  ATTRCACHE_INLINE_FANOUT = 1 << ATTRCACHE_INLINE_FANOUT_BITS,
  ATTRCACHE_INLINE_NUMBER_AT = 128, /* where a leaf of the tree has its number */
  ATTRCACHE_INLINE_ENTRIES_AT =
      80, /* where a kind has the address of the entries of its first keyvals */
  ATTRCACHE_INLINE_ENTRY_SHIFT = 3 /* from a slot's offset to that of its keyval's entry */
};
#define ATTRCACHE_INLINE_OFFSET_MASK 0xe01ffff0u
#define ATTRCACHE_INLINE_AS_POINTER 0xffe0000fu
#define ATTRCACHE_INLINE_ATTRIBUTE 0x5fe0000fu
#define ATTRCACHE_INLINE_CHANGING 0x80u

/* What a look at a slot finds. Each way to end has its own result, so that the compiler can make
 * each a return or a jump. */
enum attrcache_inline_saw {
  ATTRCACHE_INLINE_POINTER,    /* the value was set as a C pointer, and *value is that pointer */
  ATTRCACHE_INLINE_ADDRESS,    /* the value was set otherwise, and *value is its address */
  ATTRCACHE_INLINE_NONE_FIRST, /* none, in a slot of the table itself */
  ATTRCACHE_INLINE_NONE,       /* none, in a leaf */
  ATTRCACHE_INLINE_FAR,        /* not looked: not one of the first 64 keyvals of a kind */
  ATTRCACHE_INLINE_UNSURE      /* the slot is changing, or the processor is big-endian */
};

/* Keeps the compiler from computing the same thing twice, with 32 and with 64 bits, say, and on the
 * hot path what only a cold one needs. */
#define ATTRCACHE_INLINE_OPAQUE(variable) __asm__("" : "+r"(variable))

/* Reads the slot at base + offset + at. */
__attribute__((always_inline)) static inline enum attrcache_inline_saw attrcache_inline_read(
    const char* base, size_t offset, size_t at, uint32_t key, void** value,
    enum attrcache_inline_saw none) {
#ifdef ATTRCACHE_INLINE_STEPS
  typedef uint64_t attrcache_inline_half __attribute__((aligned(8))); /* 4, on i386 */
  const attrcache_inline_half* const words =
      (const attrcache_inline_half*)(const void*)(base + offset + at);
  const uint64_t meta = __atomic_load_n(words + 1, __ATOMIC_ACQUIRE);
  const uint64_t found = __atomic_load_n(words, __ATOMIC_ACQUIRE);
  uint32_t lower = (uint32_t)meta;
  if (__atomic_load_n(words + 1, __ATOMIC_RELAXED) != meta) return ATTRCACHE_INLINE_UNSURE;
  if ((lower & ATTRCACHE_INLINE_CHANGING) != 0) return ATTRCACHE_INLINE_UNSURE;
#else
  typedef long long attrcache_inline_words __attribute__((vector_size(16), may_alias));
  attrcache_inline_words both;
  uint32_t lower;
  __asm__ __volatile__("movdqa %1, %0"
                       : "=x"(both)
                       : "m"(*(const attrcache_inline_words*)(const void*)(base + offset + at))
                       : "memory");
#ifdef ATTRCACHE_INLINE_TSAN
  __tsan_acquire((void*)(uintptr_t)(base + offset + at + sizeof(uint64_t)));
#endif
  __asm__("pextrd $2, %1, %0" : "=r"(lower) : "x"(both)); /* SSE4.1, which AVX implies */
#define found both[0]
#endif
  lower ^= key;
  if (__builtin_expect((lower & ATTRCACHE_INLINE_AS_POINTER) == 0, 1)) {
    *value = (void*)(uintptr_t)found;
    return ATTRCACHE_INLINE_POINTER;
  }
#undef found
  if (__builtin_expect((lower & ATTRCACHE_INLINE_ATTRIBUTE) != 0, 0)) return none;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  ATTRCACHE_INLINE_OPAQUE(offset);
  *value = (void*)(uintptr_t)(base + offset + at);
  return ATTRCACHE_INLINE_ADDRESS;
#else
  return ATTRCACHE_INLINE_UNSURE;
#endif
}

/* The byte offset that a keyval's slot would have if all slots were one array. Of an int that is no
 * keyval it is more than that of any keyval. */
__attribute__((always_inline)) static inline size_t attrcache_inline_offset(int keyval)
    ATTRCACHE_NOEXCEPT {
  size_t offset =
      ((uint32_t)keyval - (uint32_t)ATTRCACHE_KEYVAL_MIN) & ATTRCACHE_INLINE_OFFSET_MASK;
  ATTRCACHE_INLINE_OPAQUE(offset);
  return offset;
}

/* Looks for the value under one of a kind's first 64 keyvals, with that offset. Neither `table` nor
 * `value` may be null, here and below. */
__attribute__((always_inline)) static inline enum attrcache_inline_saw attrcache_inline_look(
    const attrcache_table* table, int keyval, size_t offset, void** value) ATTRCACHE_NOEXCEPT {
  const uint32_t key = (uint32_t)keyval;
  const char* const* leaves;
  if (__builtin_expect(offset < ATTRCACHE_INLINE_SLOTS_END, 1)) {
    return attrcache_inline_read((const char*)table, offset, ATTRCACHE_INLINE_SLOTS_AT, key, value,
                                 ATTRCACHE_INLINE_NONE_FIRST);
  }
  if (offset >= ATTRCACHE_INLINE_NEAR_END) return ATTRCACHE_INLINE_FAR;
  leaves = __atomic_load_n((const char* const* const*)(const void*)table, __ATOMIC_ACQUIRE);
  if (leaves == 0) return ATTRCACHE_INLINE_NONE;
  return attrcache_inline_read(
      __atomic_load_n(leaves + (offset >> ATTRCACHE_INLINE_LEAF_SHIFT), __ATOMIC_ACQUIRE),
      key & ATTRCACHE_INLINE_IN_LEAF, 0, key, value, ATTRCACHE_INLINE_NONE);
}

/* The same under all further keyvals, whose slots are in a tree of leaves. A node's address among
 * its parent's children is odd. */
__attribute__((always_inline)) static inline enum attrcache_inline_saw attrcache_inline_look_far(
    const attrcache_table* table, int keyval, size_t offset, void** value) ATTRCACHE_NOEXCEPT {
  const uint32_t key = (uint32_t)keyval;
  const uint32_t number = (uint32_t)(offset >> ATTRCACHE_INLINE_LEAF_SHIFT);
  const char* at = __atomic_load_n((const char* const*)(const void*)table, __ATOMIC_ACQUIRE);
  uint32_t rest;
  if (__builtin_expect(at == 0, 0)) return ATTRCACHE_INLINE_NONE;
  at = __atomic_load_n((const char* const*)(const void*)at + ATTRCACHE_INLINE_TREE,
                       __ATOMIC_ACQUIRE);
  at = __atomic_load_n((const char* const*)(const void*)at + number % ATTRCACHE_INLINE_FANOUT,
                       __ATOMIC_ACQUIRE);
  for (rest = number; __builtin_expect(((uintptr_t)at & 1) != 0, 0);) {
    rest >>= ATTRCACHE_INLINE_FANOUT_BITS;
    at = __atomic_load_n((const char* const*)(const void*)(at - 1) + rest % ATTRCACHE_INLINE_FANOUT,
                         __ATOMIC_ACQUIRE);
  }
  if (*(const uint32_t*)(const void*)(at + ATTRCACHE_INLINE_NUMBER_AT) != number)
    return ATTRCACHE_INLINE_NONE;
  return attrcache_inline_read(at, key & ATTRCACHE_INLINE_IN_LEAF, 0, key, value,
                               ATTRCACHE_INLINE_NONE);
}

/* Whether nothing is attached under one of a kind's first 64 keyvals, with that offset, where
 * attrcache_inline_look has found none: that there is such a keyval, as K5 and K1 in
 * keyval/entries.h. False: ask. */
__attribute__((always_inline)) static inline int attrcache_inline_is_absent(
    const attrcache_kind* kind, int keyval, size_t offset) ATTRCACHE_NOEXCEPT {
#ifdef __LP64__ /* else an entry has another size */
  const char* const entries = __atomic_load_n(
      (const char* const*)(const void*)((const char*)kind + ATTRCACHE_INLINE_ENTRIES_AT),
      __ATOMIC_ACQUIRE);
  if (entries != 0) {
    const void* const entry = entries + (offset << ATTRCACHE_INLINE_ENTRY_SHIFT);
    return (uint32_t)__atomic_load_n((const uint64_t*)entry, __ATOMIC_ACQUIRE) == (uint32_t)keyval;
  }
#else
  (void)kind, (void)keyval, (void)offset;
#endif
  return 0;
}

/* What attrcache_get_at_once returns if the caller must call attrcache_get: no result of the
 * API. */
enum { ATTRCACHE_INLINE_ASK = 1000 };

/* Reads an attribute as attrcache_get_with_base does, if that is OK or ABSENT, under one of the
 * first 64 keyvals of a kind. In all other cases, and sometimes in these, it returns
 * ATTRCACHE_INLINE_ASK: the caller then calls attrcache_get, in a function of its own, so that the
 * common path needs no stack. Any thread; wait-free. */
__attribute__((always_inline)) static inline int attrcache_get_at_once(
    const attrcache_kind* kind, const attrcache_table* table, uint32_t base, int keyval,
    void** value) ATTRCACHE_NOEXCEPT {
  int inside = ATTRCACHE_CAST(int, ATTRCACHE_CAST(uint32_t, keyval) ^ base ^
                                       ATTRCACHE_CAST(uint32_t, ATTRCACHE_KEYVAL_MIN));
  const size_t offset = attrcache_inline_offset(inside);
  enum attrcache_inline_saw saw;
  if (__builtin_expect(table == 0 || value == 0, 0)) return ATTRCACHE_INLINE_ASK;
  saw = attrcache_inline_look(table, inside, offset, value);
  if (__builtin_expect(saw <= ATTRCACHE_INLINE_ADDRESS, 1)) return ATTRCACHE_OK;
  if (saw >= ATTRCACHE_INLINE_FAR || kind == 0) return ATTRCACHE_INLINE_ASK;
  ATTRCACHE_INLINE_OPAQUE(inside); /* its offset is computed again: a hit keeps nothing */
  if (attrcache_inline_is_absent(kind, inside, attrcache_inline_offset(inside)))
    return ATTRCACHE_ABSENT;
  return ATTRCACHE_INLINE_ASK;
}

#ifdef __cplusplus
} /* extern "C" */
#pragma GCC diagnostic pop
#endif

#endif /* ATTRCACHE_ATTRCACHE_INLINE_H_ */
