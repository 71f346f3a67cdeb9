#include "analysis/store/trace_part.h"

#include "analysis/store/trace_file.h"
#include "tests/store/expect_result.h"
#include "tests/store/finished_trace.h"

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace sonde::store {
namespace {

namespace fs = std::filesystem;

using TracePartTest = FinishedTrace;

TEST_F(TracePartTest, GoesUnlessItIsPublished) {
  const fs::path output = file("out.sonde");
  {
    ASSERT_GOOD_ASSIGN(const TracePart part, TracePart::claim(output, false, {}));
    EXPECT_EQ(part.path(), output.string() + ".part");
    ASSERT_GOOD(createTrace(part.path(), WriteMode::NoLog));
    std::ofstream(part.path().string() + "-journal") << "a log";
  }
  EXPECT_FALSE(fs::exists(output.string() + ".part"));
  EXPECT_FALSE(fs::exists(output.string() + ".part-journal"));
  ASSERT_GOOD_ASSIGN(TracePart part, TracePart::claim(output, false, {}));
  ASSERT_GOOD(createTrace(part.path(), WriteMode::NoLog));
  ASSERT_GOOD(std::move(part).publish());
  ASSERT_GOOD(openTrace(output));
}

TEST_F(TracePartTest, IsNotTakenFromAProcessThatWritesIt) {
  const fs::path output = file("out.sonde");
  ASSERT_GOOD_ASSIGN(const TracePart part, TracePart::claim(output, false, {}));
  ASSERT_GOOD(createTrace(part.path(), WriteMode::NoLog));
  for (const bool replace : {false, true}) {
    const auto second = TracePart::claim(output, replace, {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(second.error().message.find("is being written by another process"),
              std::string::npos);
  }
  ASSERT_GOOD(openTrace(part.path()));
}

TEST_F(TracePartTest, WhatAKilledProcessLeftIsReplacedWhenThatIsAllowed) {
  const fs::path output = file("out.sonde");
  const pid_t child = fork();
  if (child == 0) {
    const auto part = TracePart::claim(output, false, {});
    _exit(part && createTrace(part->path(), WriteMode::NoLog) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const auto refused = TracePart::claim(output, false, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("is in the way: remove it, or give -f"),
            std::string::npos);
  EXPECT_TRUE(fs::exists(output.string() + ".part"));
  ASSERT_GOOD_ASSIGN(const TracePart part, TracePart::claim(output, true, {}));
  EXPECT_EQ(fs::file_size(part.path()), 0U);
}

TEST_F(TracePartTest, IsNotMadeInThePlaceOfAnInput) {
  const fs::path input = finished("in.sonde");
  fs::create_symlink(input, file("link"));
  fs::create_hard_link(input, file("other.part"));
  for (const fs::path& output : {input, file("link"), input.parent_path() / "." / "in.sonde"}) {
    const auto refused = TracePart::claim(output, true, {input});
    ASSERT_FALSE(refused) << output;
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(refused.error().message.find("is an input, too"), std::string::npos);
  }
  EXPECT_FALSE(TracePart::claim(input, true, {file("link")}));
  EXPECT_FALSE(TracePart::claim(file("other"), true, {file("other.part")}));
  ASSERT_GOOD(openTrace(input));
  EXPECT_TRUE(fs::exists(file("other.part")));
}

}  // namespace
}  // namespace sonde::store
