// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The interposers are preloaded into programs in containers, too, whose glibc may be older than the
// one they were linked with. A program would not start there if the library needed a version that
// that glibc lacks. So whatever is new since glibc 2.31, or has a new version, is defined here and
// calls the first version: for this library alone (exports.map hides it), including the static C++
// library in it. tests/clusters/glibc_test.sh checks what is still needed.

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ATTRCACHE_FIRST "GLIBC_2.2.5"
#define ATTRCACHE_DLADDR1 "GLIBC_2.3.3"
#elif defined(__aarch64__) || (defined(__powerpc64__) && defined(__LITTLE_ENDIAN__))
#define ATTRCACHE_FIRST "GLIBC_2.17"
#elif defined(__riscv)
#define ATTRCACHE_FIRST "GLIBC_2.27"
#elif defined(__s390x__)
#define ATTRCACHE_FIRST "GLIBC_2.2"
#define ATTRCACHE_DLADDR1 "GLIBC_2.3.3"
#endif

extern "C" {

// For the static C++ library's random numbers, which nothing here uses.
unsigned attrcache_arc4random() __asm__("arc4random");
unsigned attrcache_arc4random() {
  unsigned number = 0;
  return getentropy(&number, sizeof number) == 0 ? number : 0;
}

// The names by which C++ calls these since glibc 2.38: they also read binary numbers, which don't
// occur here.
unsigned long attrcache_old_strtoul(const char* text, char** end, int base) __asm__("strtoul");
unsigned long attrcache_strtoul(const char* text, char** end, int base) __asm__("__isoc23_strtoul");
unsigned long attrcache_strtoul(const char* text, char** end, int base) {
  return attrcache_old_strtoul(text, end, base);
}
long attrcache_old_strtol(const char* text, char** end, int base) __asm__("strtol");
long attrcache_strtol(const char* text, char** end, int base) __asm__("__isoc23_strtol");
long attrcache_strtol(const char* text, char** end, int base) {
  return attrcache_old_strtol(text, end, base);
}

// Says that there may be several threads, which is always right.
extern char __libc_single_threaded;
char __libc_single_threaded = 0;

// Elsewhere the newest versions are taken.
#ifdef ATTRCACHE_FIRST
#define ATTRCACHE_OLD(name, version) __asm__(".symver attrcache_old_" #name ", " #name "@" version)
#else
#define ATTRCACHE_OLD(name, version) __asm__(".symver attrcache_old_" #name ", " #name "@@@")
#define ATTRCACHE_FIRST ""
#endif
#ifndef ATTRCACHE_DLADDR1
#define ATTRCACHE_DLADDR1 ATTRCACHE_FIRST
#endif

#define ATTRCACHE_WRAP(version, result, name, parameters, arguments) \
  result attrcache_old_##name parameters;                            \
  ATTRCACHE_OLD(name, version);                                      \
  result attrcache_##name parameters __asm__(#name);                 \
  result attrcache_##name parameters { return attrcache_old_##name arguments; }

ATTRCACHE_WRAP(ATTRCACHE_FIRST, void*, dlopen, (const char* file, int mode), (file, mode))
ATTRCACHE_WRAP(ATTRCACHE_FIRST, int, dlclose, (void* handle), (handle))
ATTRCACHE_WRAP(ATTRCACHE_FIRST, void*, dlsym, (void* handle, const char* name), (handle, name))
ATTRCACHE_WRAP(ATTRCACHE_FIRST, int, dladdr, (const void* address, Dl_info* info), (address, info))
ATTRCACHE_WRAP(ATTRCACHE_DLADDR1, int, dladdr1,
               (const void* address, Dl_info* info, void** more, int flags),
               (address, info, more, flags))
ATTRCACHE_WRAP(ATTRCACHE_FIRST, int, pthread_key_create,
               (pthread_key_t * key, void (*at_end)(void*)), (key, at_end))
ATTRCACHE_WRAP(ATTRCACHE_FIRST, int, pthread_key_delete, (pthread_key_t key), (key))
ATTRCACHE_WRAP(ATTRCACHE_FIRST, int, pthread_setspecific, (pthread_key_t key, const void* value),
               (key, value))
ATTRCACHE_WRAP(ATTRCACHE_FIRST, void*, pthread_getspecific, (pthread_key_t key), (key))
ATTRCACHE_WRAP(ATTRCACHE_FIRST, int, pthread_create,
               (pthread_t * thread, const pthread_attr_t* how, void* (*run)(void*), void* argument),
               (thread, how, run, argument))
ATTRCACHE_WRAP(ATTRCACHE_FIRST, int, pthread_detach, (pthread_t thread), (thread))
ATTRCACHE_WRAP(ATTRCACHE_FIRST, int, pthread_sigmask,
               (int how, const sigset_t* set, sigset_t* before), (how, set, before))
ATTRCACHE_WRAP(ATTRCACHE_FIRST, int, sem_init, (sem_t * semaphore, int shared, unsigned value),
               (semaphore, shared, value))
ATTRCACHE_WRAP(ATTRCACHE_FIRST, int, sem_wait, (sem_t * semaphore), (semaphore))
ATTRCACHE_WRAP(ATTRCACHE_FIRST, int, sem_post, (sem_t * semaphore), (semaphore))

}  // extern "C"
