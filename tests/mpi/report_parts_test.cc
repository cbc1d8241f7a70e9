// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What of the report needs no MPI: how parts travel from rank to rank, JSON strings, and settings.

#include <gtest/gtest.h>

#include "mpi/report/quote.h"
#include "mpi/report/settings.h"
#include "mpi/report/wire.h"

namespace attrcache::mpi::report {
namespace {

Part some_part() {
  Part part;
  Summary& s = part.summary;
  s.rank = 3;
  s.ranks = 1;
  s.host = "node 7";
  s.nanoseconds = 1'234'567'890'123;
  s.finalized = true;
  s.not_served[1] = 1;
  Line line;
  line.kind = 2;
  line.library = "libx.so";
  line.function = "f(int)";
  line.from_caller = true;
  line.made_at = "libx.so: setup+0x2f";
  for (int n = 0; n < kNumbers; ++n) line.numbers[n] = static_cast<uint64_t>(n) << 40;
  line.last_failure = -1;
  s.lines = {line, Line{}};
  s.attached = {{1, "a \"type\"", true, false, "liby.so", "+0x12", 17}};
  s.objects = {{1, "a type", true, "liby.so: make+0x3", 2}, {2, "", false, "", 1}};
  s.misuse = {{"stale-keyval",
               "what it is",
               "what the standard says",
               5,
               {{"libx.so: f+0x1", 4}, {"libx.so: g", 1}}}};
  part.timeline.pid = 4711;
  part.timeline.dropped = 9;
  part.timeline.names = {"", "f"};
  part.timeline.moments = {{1'700'000'000'000'000'000, 12, 34, 56, -7, 1, 2, 3}};
  return part;
}

TEST(Settings, ManyRanksShareTheMemoryForEvents) {
  Settings s;
  EXPECT_EQ(s.events_of(1), 50'000u);
  EXPECT_EQ(s.events_of(10), 50'000u);
  EXPECT_EQ(s.events_of(4000), 125u);
  EXPECT_EQ(s.events_of(1'000'000), 1u);
  s.events = 7;
  EXPECT_EQ(s.events_of(4000), 7u);
  s.events = 90'000;
  s.events_asked = true;
  EXPECT_EQ(s.events_of(4000), 90'000u);
}

TEST(Wire, WhatArrivesIsWhatWasSent) {
  const std::string bytes = pack(some_part());
  Part part;
  ASSERT_TRUE(unpack(bytes, &part));
  EXPECT_EQ(pack(part), bytes);
  EXPECT_EQ(part.summary.rank, 3);
  EXPECT_EQ(part.summary.host, "node 7");
  EXPECT_TRUE(part.summary.finalized);
  EXPECT_EQ(part.summary.not_served[1], 1u);
  ASSERT_EQ(part.summary.lines.size(), 2u);
  EXPECT_EQ(part.summary.lines[0].function, "f(int)");
  EXPECT_TRUE(part.summary.lines[0].from_caller);
  EXPECT_EQ(part.summary.lines[0].made_at, "libx.so: setup+0x2f");
  EXPECT_EQ(part.summary.lines[0].numbers[kOwnNanoseconds], uint64_t{kOwnNanoseconds} << 40);
  EXPECT_EQ(part.summary.lines[0].last_failure, -1);
  ASSERT_EQ(part.summary.attached.size(), 1u);
  EXPECT_TRUE(part.summary.attached[0].predefined);
  EXPECT_FALSE(part.summary.attached[0].deleted_by_finalize);
  EXPECT_EQ(part.summary.attached[0].count, 17u);
  ASSERT_EQ(part.summary.objects.size(), 2u);
  EXPECT_TRUE(part.summary.objects[0].by_dup);
  EXPECT_EQ(part.summary.objects[0].place, "liby.so: make+0x3");
  EXPECT_EQ(part.summary.objects[0].count, 2u);
  ASSERT_EQ(part.summary.misuse.size(), 1u);
  EXPECT_EQ(part.summary.misuse[0].rule, "what the standard says");
  ASSERT_EQ(part.summary.misuse[0].places.size(), 2u);
  EXPECT_EQ(part.summary.misuse[0].places[1].place, "libx.so: g");
  EXPECT_EQ(part.timeline.dropped, 9u);
  ASSERT_EQ(part.timeline.moments.size(), 1u);
  EXPECT_EQ(part.timeline.moments[0].start, 1'700'000'000'000'000'000u);
  EXPECT_EQ(part.timeline.moments[0].code, -7);
  EXPECT_EQ(part.timeline.moments[0].what, 3);
}

TEST(Wire, BytesThatAreCutOffOrTooManyAreRefused) {
  const std::string bytes = pack(some_part());
  for (size_t length = 0; length < bytes.size(); ++length) {
    Part part;
    EXPECT_FALSE(unpack(bytes.substr(0, length), &part)) << length;
  }
  Part part;
  EXPECT_FALSE(unpack(bytes + "x", &part));
}

TEST(Wire, ALengthThatCannotBeIsRefused) {
  Part part;
  EXPECT_FALSE(unpack(std::string(1000, '\xff'), &part));
}

TEST(Quote, WhatJsonCannotHold) {
  EXPECT_EQ(quoted("plain"), "plain");
  EXPECT_EQ(quoted("a \"name\" \\ b"), "a \\\"name\\\" \\\\ b");
  EXPECT_EQ(quoted("line\nnext\x01"), "line\\u000anext\\u0001");
  EXPECT_EQ(quoted(std::string_view("a\0b", 3)), "a\\u0000b");
}

TEST(Quote, Utf8PassesAndWhatIsNoneDoesNot) {
  EXPECT_EQ(quoted("\u00e4\u20ac\U0001F600"), "\u00e4\u20ac\U0001F600");
  EXPECT_EQ(quoted("\xff"), "?");
  EXPECT_EQ(quoted("a\xc3"), "a?");               // cut off
  EXPECT_EQ(quoted("\xc0\xaf"), "??");            // overlong
  EXPECT_EQ(quoted("\xe0\x80\xaf"), "???");       // likewise
  EXPECT_EQ(quoted("\xed\xa0\x80"), "???");       // a surrogate
  EXPECT_EQ(quoted("\xf4\x90\x80\x80"), "????");  // beyond U+10FFFF
  EXPECT_EQ(quoted("\xe2\x82x"), "??x");          // interrupted
  EXPECT_EQ(quoted("\xf0\x9f\x98\x80!"), "\xf0\x9f\x98\x80!");
}

}  // namespace
}  // namespace attrcache::mpi::report
