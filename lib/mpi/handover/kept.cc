// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/handover/kept.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <new>
#include <string>

#include "mpi/handover/folder.h"

namespace attrcache::mpi::kept {
namespace {

constexpr size_t kMost = size_t{1} << 30;  // of address space
constexpr size_t kStep = size_t{1} << 16;  // by which the file grows

struct alignas(64) Head {
  What what;
  uint64_t size;
};

struct File {
  std::string path;
  ino_t number = 0;  // of the file, to know it again
  char* memory = nullptr;
  size_t used = 0;
  size_t length = 0;
};

constinit std::mutex lock;  // of what is taken

// By statx, since fstat needs a newer glibc.
ino_t number_of(int descriptor) {
  struct statx of = {};
  return statx(descriptor, "", AT_EMPTY_PATH, STATX_INO, &of) == 0 ? of.stx_ino : 0;
}

File begin() {
  File file;
  const std::string folder = report_folder();
  if (folder.empty()) return file;
  file.path = folder + "/" + process_name() + ".kept";
  const int descriptor = open(file.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return file;
  void* memory = mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  file.number = number_of(descriptor);
  close(descriptor);
  if (memory != MAP_FAILED) file.memory = static_cast<char*>(memory);
  return file;
}

// Never destroyed, because MPI may end after the program's static objects.
constinit File* the_file = nullptr;

// A child of fork goes on with a copy, and with no more than that: what it does isn't its parent's.
void part_from_parent() {
  File& f = *the_file;
  f.path.clear();  // so it can't grow
  void* const copy =
      mmap(nullptr, f.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy != MAP_FAILED) {
    std::memcpy(copy, f.memory, f.used);
    // A hook of mremap's that UCX brings along loses the last argument.
    syscall(SYS_mremap, copy, f.length, f.length, MREMAP_MAYMOVE | MREMAP_FIXED, f.memory);
  }
  lock.unlock();
}

File& file() {
  if (the_file == nullptr) {
    the_file = new File(begin());
    if (the_file->memory != nullptr)
      pthread_atfork([] { lock.lock(); }, [] { lock.unlock(); }, part_from_parent);
  }
  return *the_file;
}

// Reserves room on the disk first: without it, touching the memory would raise SIGBUS. The file is
// opened anew each time, because a program may close descriptors that it hasn't opened. By then it
// may be another one's, where others may write to the folder that ATTRCACHE_REPORT names.
bool grow(File& f, size_t length) {
  const int descriptor = open(f.path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool grown = number_of(descriptor) == f.number &&
                     posix_fallocate(descriptor, static_cast<off_t>(f.length),
                                     static_cast<off_t>(length - f.length)) == 0;
  close(descriptor);
  if (grown) f.length = length;
  return grown;
}

}  // namespace

void* take(What what, size_t size) {
  const std::lock_guard held(lock);
  File& f = file();
  const size_t end = f.used + sizeof(Head) + (size + 63) / 64 * 64;
  if (f.memory == nullptr || end > kMost) return nullptr;
  if (end > f.length && !grow(f, (end + kStep - 1) / kStep * kStep)) return nullptr;
  Head* head = new (f.memory + f.used) Head{what, size};
  f.used = end;
  return head + 1;
}

const void* base() {
  const std::lock_guard held(lock);
  return file().memory;
}

void remove() {
  const std::lock_guard held(lock);
  if (file().memory != nullptr) unlink(file().path.c_str());
}

}  // namespace attrcache::mpi::kept
