// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/handover/folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace attrcache::mpi {

std::string host_name() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

bool leave_in_folder(const std::string& folder, const std::string& bytes) {
  const std::string path = folder + "/" + host_name() + "." + std::to_string(getpid()) + ".json";
  const std::string unfinished = path + ".part";
  std::FILE* file = std::fopen(unfinished.c_str(), "we");
  int error = errno;
  if (file != nullptr) {
    errno = 0;
    bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    error = errno;
    if (std::fclose(file) != 0 && written) {
      written = false;
      error = errno;
    }
    if (written && std::rename(unfinished.c_str(), path.c_str()) == 0) return true;
    if (written) error = errno;
    unlink(unfinished.c_str());
  }
  std::fprintf(stderr, "attrcache: can't write %s: %s\n", path.c_str(), std::strerror(error));
  return false;
}

}  // namespace attrcache::mpi
