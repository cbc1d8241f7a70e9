// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/handover/folder.h"

#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "mpi/handover/channel.h"

namespace attrcache::mpi {

std::string host_name() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

int64_t process_moment() {
  static const int64_t moment = [] {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }();
  return moment;
}

std::string process_name() {
  return host_name() + "." + std::to_string(getpid()) + "." + std::to_string(process_moment());
}

std::string report_folder() {
  const char* value = secure_getenv("ATTRCACHE_REPORT");
  const std::string where = value != nullptr ? value : "";
  return where == "launcher" ? channel::folder() : where;
}

int leave_in_folder(const std::string& folder, const char* suffix, const std::string& content) {
  const std::string path = folder + "/" + process_name() + "." + suffix;
  const std::string unfinished = path + ".part";
  // x: a link that another user has put there isn't followed.
  std::FILE* file = std::fopen(unfinished.c_str(), "wxe");
  if (file == nullptr) return errno;
  errno = 0;
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  const int error = errno;
  if (std::fclose(file) == 0 && written && std::rename(unfinished.c_str(), path.c_str()) == 0) {
    return 0;
  }
  const int later = errno;
  unlink(unfinished.c_str());
  return written || error == 0 ? later : error;
}

}  // namespace attrcache::mpi
