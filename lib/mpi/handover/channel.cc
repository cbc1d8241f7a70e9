// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/handover/channel.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mpi/handover/folder.h"

namespace attrcache::mpi::channel {
namespace {

constexpr int kMostAddresses = 10;
// Milliseconds in all. A first packet that is lost, as on a network that was silent, is sent again
// after one second.
constexpr int64_t kConnecting = 2500;
constexpr int64_t kStalling = 60'000;  // without any progress, once it is connected

int64_t milliseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1'000'000;
}

// ATTRCACHE_LAUNCHER, taken apart: TOKEN@FOLDER@BOOT@PORT@ADDRESS@...
struct Launcher {
  char text[4096];
  const char* token = "";
  char* folder = nullptr;
  const char* boot = "";
  int port = 0;
  const char* addresses[kMostAddresses];
  int count = 0;
};

void decode_percents(char* text) {
  char* to = text;
  for (const char* from = text; *from != '\0'; ++to) {
    unsigned code = 0;
    if (*from == '%' && from[1] != '\0' &&
        std::from_chars(from + 1, from + 3, code, 16).ptr == from + 3) {
      *to = static_cast<char>(code);
      from += 3;
    } else {
      *to = *from++;
    }
  }
  *to = '\0';
}

bool read_launcher(Launcher& l) {
  const char* value = secure_getenv("ATTRCACHE_LAUNCHER");
  if (value == nullptr || value[0] == '\0' || std::strlen(value) >= sizeof l.text) return false;
  std::strcpy(l.text, value);
  int field = 0;
  for (char* at = l.text; at != nullptr; ++field) {
    char* end = std::strchr(at, '@');
    if (end != nullptr) *end++ = '\0';
    if (field == 0) l.token = at;
    if (field == 1) l.folder = at;
    if (field == 2) l.boot = at;
    if (field == 3) l.port = std::atoi(at);
    if (field > 3 && l.count < kMostAddresses) l.addresses[l.count++] = at;
    at = end;
  }
  if (l.folder != nullptr) decode_percents(l.folder);
  return field >= 3;
}

bool runs_here(const Launcher& l) {
  char boot[64] = "";
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t n = read(file, boot, sizeof boot - 1);
  close(file);
  return n > 0 && std::strncmp(boot, l.boot, std::strlen(l.boot)) == 0 && l.boot[0] != '\0';
}

// A socket that is being connected, or -1.
int begin_connection(const char* address, int port) {
  addrinfo wanted = {};
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address, std::to_string(port).c_str(), &wanted, &found) != 0) return -1;
  int s = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (s >= 0 && connect(s, found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS) {
    close(s);
    s = -1;
  }
  freeaddrinfo(found);
  return s;
}

bool wait_for(int s, short events, int64_t deadline) {
  pollfd p = {s, events, 0};
  for (;;) {
    const int64_t left = deadline - milliseconds();
    const int n = poll(&p, 1, left > 0 ? static_cast<int>(left) : 0);
    if (n > 0) return true;
    if (n == 0 || errno != EINTR) return false;
  }
}

// Whether both ends of a connection have the same address, so that the other one is on this host.
bool is_own_address(int s) {
  sockaddr_storage ends[2] = {};
  socklen_t size = sizeof ends[0];
  if (getsockname(s, reinterpret_cast<sockaddr*>(&ends[0]), &size) != 0) return false;
  size = sizeof ends[1];
  if (getpeername(s, reinterpret_cast<sockaddr*>(&ends[1]), &size) != 0) return false;
  const bool is_v4 = ends[0].ss_family == AF_INET;
  const size_t at = is_v4 ? offsetof(sockaddr_in, sin_addr) : offsetof(sockaddr_in6, sin6_addr);
  return std::memcmp(reinterpret_cast<const char*>(&ends[0]) + at,
                     reinterpret_cast<const char*>(&ends[1]) + at,
                     is_v4 ? sizeof(in_addr) : sizeof(in6_addr)) == 0;
}

// A socket that is connected to the launcher, or -1. All addresses are tried at once, because each
// one at which nothing answers would take the whole time. Hosts have some addresses in common, as
// those of bridges for containers. So on another host than the launcher's, what answers at this
// host's own address is somebody else, who must not get the secret.
int connect_to(const Launcher& l) {
  pollfd trying[kMostAddresses];
  nfds_t count = 0;
  const bool here = runs_here(l);
  int connected = -1;
  for (int i = 0; i < l.count; ++i) {
    if (std::strncmp(l.addresses[i], "127.", 4) == 0 && !here) continue;
    const int s = begin_connection(l.addresses[i], l.port);
    if (s >= 0) trying[count++] = {s, POLLOUT, 0};
  }
  const int64_t deadline = milliseconds() + kConnecting;
  while (count > 0 && connected < 0) {
    const int64_t left = deadline - milliseconds();
    const int n = poll(trying, count, left > 0 ? static_cast<int>(left) : 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    for (nfds_t i = 0; i < count && connected < 0;) {
      if (trying[i].revents == 0) {
        ++i;
        continue;
      }
      int error = 0;
      socklen_t size = sizeof error;
      const int s = trying[i].fd;
      trying[i] = trying[--count];
      if (getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0 &&
          (here || !is_own_address(s))) {
        connected = s;
      } else {
        close(s);
      }
    }
  }
  for (nfds_t i = 0; i < count; ++i) close(trying[i].fd);
  return connected;
}

bool send_all(int s, const void* bytes, size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::send(s, at, size, MSG_NOSIGNAL);
    if (n > 0) {
      at += n;
      size -= static_cast<size_t>(n);
    } else if (n < 0 && errno == EAGAIN) {
      if (!wait_for(s, POLLOUT, milliseconds() + kStalling)) return false;
    } else if (n == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool is_answered(int s) {
  char answer[2];
  return wait_for(s, POLLIN, milliseconds() + kStalling) &&
         recv(s, answer, sizeof answer, MSG_DONTWAIT) == sizeof answer &&
         std::memcmp(answer, "ok", sizeof answer) == 0;
}

bool send_by_socket(const Launcher& l, const char* head, const void* bytes, size_t size) {
  const int s = connect_to(l);
  if (s < 0) return false;
  const bool sent = send_all(s, head, std::strlen(head)) && send_all(s, bytes, size) &&
                    (size == 0 || is_answered(s));
  close(s);
  return sent;
}

}  // namespace

bool exists() {
  const char* value = secure_getenv("ATTRCACHE_LAUNCHER");
  return value != nullptr && value[0] != '\0';
}

std::string folder() {
  Launcher l;
  // Where all may write, another user may have put a folder, or a link, in place of ours. By statx,
  // since lstat needs a newer glibc.
  struct statx there;
  const bool is_ours =
      read_launcher(l) &&
      statx(AT_FDCWD, l.folder, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &there) == 0 &&
      S_ISDIR(there.stx_mode) && there.stx_uid == geteuid() &&
      (there.stx_mode & (S_IWGRP | S_IWOTH)) == 0;
  return is_ours && access(l.folder, W_OK | X_OK) == 0 ? l.folder : "";
}

bool send(const char* what, const char* lines, const void* bytes, size_t size) {
  Launcher l;
  if (!read_launcher(l)) return false;
  char head[8192];
  std::snprintf(head, sizeof head, "attrcache %s %s\n%s\n", l.token, what, lines);
  if (l.port > 0 && send_by_socket(l, head, bytes, size)) return true;
  const std::string there = folder();
  const std::string body(static_cast<const char*>(bytes), size);
  return !there.empty() && leave_in_folder(there, what, head + body) == 0;
}

}  // namespace attrcache::mpi::channel
