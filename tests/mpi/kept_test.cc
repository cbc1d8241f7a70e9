// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/handover/kept.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace attrcache::mpi {
namespace {

namespace fs = std::filesystem;

// Where others may write to the folder, they may put another file of the user's, by a hard link, in
// place of the one that is mapped. That one must not grow instead.
TEST(Kept, GrowsNoOtherFile) {
  const fs::path folder = fs::path(testing::TempDir()) / "kept_test";
  fs::remove_all(folder);
  fs::create_directory(folder);
  setenv("ATTRCACHE_REPORT", folder.c_str(), 1);
  ASSERT_NE(kept::take(kept::What::kMaker, 1000), nullptr);
  const fs::path file = fs::directory_iterator(folder)->path();
  fs::rename(file, folder / "gone");
  std::ofstream(file) << "precious";
  EXPECT_EQ(kept::take(kept::What::kMaker, 1'000'000), nullptr);
  EXPECT_EQ(fs::file_size(file), 8u);
  fs::rename(folder / "gone", file);
  EXPECT_NE(kept::take(kept::What::kMaker, 1'000'000), nullptr);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace attrcache::mpi
