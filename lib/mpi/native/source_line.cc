// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/source_line.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace attrcache::mpi {
namespace {

constexpr size_t kStack = 65536;
constexpr int kMilliseconds = 10'000;

struct Question {
  const char* path;
  char address[32];
  char** environment;
  char* stacks;
  int pipe[2];
  char answer[4096];  // "/home/me/solver.c:120"
};

// In the process that becomes addr2line.
int become(void* argument) {
  const auto& q = *static_cast<const Question*>(argument);
  char* const words[] = {const_cast<char*>("addr2line"), const_cast<char*>("-e"),
                         const_cast<char*>(q.path), const_cast<char*>(q.address), nullptr};
  dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
  dup2(q.pipe[1], STDOUT_FILENO);
  execvpe(words[0], words, q.environment);
  _exit(127);
}

// In a process between that and the program's, which would get its SIGCHLD.
int ask(void* argument) {
  auto& q = *static_cast<Question*>(argument);
  if (pipe2(q.pipe, O_CLOEXEC) != 0) _exit(1);
  const int child =
      clone(become, q.stacks + 2 * kStack, CLONE_VM | CLONE_VFORK | SIGCHLD, argument);
  if (child < 0) _exit(1);
  close(q.pipe[1]);
  pollfd readable = {q.pipe[0], POLLIN, 0};
  for (size_t n = 0; n < sizeof q.answer - 1;) {
    const bool in_time = poll(&readable, 1, kMilliseconds) == 1;
    const ssize_t got = in_time ? read(q.pipe[0], q.answer + n, sizeof q.answer - 1 - n) : -1;
    if (got < 0) kill(child, SIGKILL);
    if (got <= 0) break;
    n += static_cast<size_t>(got);
  }
  waitpid(child, nullptr, 0);
  _exit(0);
}

// Without what is preloaded, which is for the program.
std::vector<char*> environment() {
  std::vector<char*> copy;
  for (char** one = environ; *one != nullptr; ++one) {
    if (std::strncmp(*one, "LD_PRELOAD=", 11) != 0) copy.push_back(*one);
  }
  copy.push_back(nullptr);
  return copy;
}

}  // namespace

std::string source_line(const Origin& origin) {
  void* const stacks = mmap(nullptr, 2 * kStack, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stacks == MAP_FAILED) return "";
  std::vector<char*> variables = environment();
  Question q = {};
  q.path = origin.path.c_str();
  std::snprintf(q.address, sizeof q.address, "%#zx", size_t{origin.in_file});
  q.environment = variables.data();
  q.stacks = static_cast<char*>(stacks);
  // Like vfork: this thread goes on when that process has ended. No handler may run there. Without
  // a signal of its end, only __WCLONE finds it.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int child = clone(ask, q.stacks + kStack, CLONE_VM | CLONE_VFORK, &q);
  if (child > 0) waitpid(child, nullptr, __WCLONE);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  munmap(stacks, 2 * kStack);
  q.answer[std::strcspn(q.answer, " \n")] = '\0';  // " (discriminator 2)"
  const char* const name = base_name(q.answer);
  const char* const colon = std::strrchr(name, ':');
  return colon != nullptr && name[0] != '?' && std::atoi(colon + 1) > 0 ? name : "";
}

}  // namespace attrcache::mpi
