#include "base/whole_file.h"

#include "tests/support/in_child.h"
#include "tests/support/run_program.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class WholeFile : public ::testing::Test {
 protected:
  fs::path file(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& text) const {
    test::writeText(file(name), text);
  }
  std::string read(const std::string& name) const { return test::readText(file(name)); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename());
    return names;
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(WholeFile, ReplacesAFileAndNothingBesideIt) {
  write("s", "of an earlier run, and longer");
  ASSERT_EQ(::chmod(file("s").c_str(), 0600), 0);
  write("s.part", "precious");
  EXPECT_TRUE(checkWritable(file("s")));
  EXPECT_EQ(read("s"), "of an earlier run, and longer");
  EXPECT_TRUE(writeWhole(file("s"), "text"));
  EXPECT_EQ(read("s"), "text");
  EXPECT_EQ(fs::status(file("s")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(read("s.part"), "precious");
  EXPECT_THAT(names(), UnorderedElementsAre("s", "s.part"));
}

TEST_F(WholeFile, WhoHasTheOldOneOpenKeepsIt) {
  write("s", "old");
  const int reader = ::open(file("s").c_str(), O_RDONLY);
  EXPECT_TRUE(writeWhole(file("s"), "new"));
  char text[8] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 3);
  EXPECT_EQ(std::string(text), "old");
  ::close(reader);
}

TEST_F(WholeFile, ALinkLeadsToWhatIsWrittenBeItThereOrNot) {
  write("s", "old");
  fs::create_symlink("s", file("link"));
  fs::create_symlink("made", file("second"));
  fs::create_symlink(file("second"), file("first"));
  EXPECT_TRUE(writeWhole(file("link"), "new"));
  EXPECT_TRUE(checkWritable(file("first")));
  EXPECT_TRUE(writeWhole(file("first"), "made"));
  EXPECT_EQ(read("s"), "new");
  EXPECT_EQ(read("made"), "made");
  EXPECT_TRUE(fs::is_symlink(file("link")) && fs::is_symlink(file("first")));
  EXPECT_TRUE(fs::is_symlink(file("second")));
}

TEST_F(WholeFile, WhatMayNotBeWrittenStays) {
  write("s", "old");
  fs::permissions(file("s"), fs::perms::owner_read | fs::perms::others_read);
  fs::permissions(file("."), fs::perms::all);
  EXPECT_TRUE(test::inChild([&] {
    if (::getuid() == 0) {  // root may write everywhere
      ASSERT_EQ(::setuid(65534), 0);
    }
    EXPECT_FALSE(checkWritable(file("s")));
    const auto refused = writeWhole(file("s"), "new");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "Permission denied");
  }));
  EXPECT_EQ(read("s"), "old");
}

TEST_F(WholeFile, SaysWhyNot) {
  fs::create_symlink("ring", file("ring"));
  const std::pair<fs::path, const char*> calls[] = {{"/nonexistent/s", "No such file or directory"},
                                                    {file(""), "Is a directory"},
                                                    {file("ring"), "symbolic links"}};
  for (const auto& [name, why] : calls) {
    SCOPED_TRACE(name);
    const auto checked = checkWritable(name);
    const auto written = writeWhole(name, "text");
    ASSERT_FALSE(checked);
    ASSERT_FALSE(written);
    EXPECT_THAT(checked.error().message, HasSubstr(why));
    EXPECT_THAT(written.error().message, HasSubstr(why));
  }
  EXPECT_THAT(names(), UnorderedElementsAre("ring"));
}

TEST_F(WholeFile, WhatThisProgramHasOpenGetsItAfterTheRest) {
  const int log = ::open(file("log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const fs::path names[] = {file("log"), "/dev/fd/" + std::to_string(log)};
  for (const fs::path& name : names) {
    ASSERT_EQ(::write(log, "job,", 4), 4);
    EXPECT_TRUE(checkWritable(name));
    EXPECT_TRUE(writeWhole(name, "text,"));
  }
  ASSERT_EQ(::write(log, "after", 5), 5);
  ::close(log);
  EXPECT_EQ(read("log"), "job,text,job,text,after");
}

TEST_F(WholeFile, WhatAnotherProgramHasOpenGetsItAtTheEnd) {
  const int log = ::open(file("log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ASSERT_EQ(::write(log, "job,", 4), 4);
  const std::string name = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(log);
  EXPECT_TRUE(test::inChild([&] {
    ::close(log);
    EXPECT_TRUE(checkWritable(name));
    EXPECT_TRUE(writeWhole(name, "text"));
  }));
  ::close(log);
  EXPECT_EQ(read("log"), "job,text");
  EXPECT_THAT(names(), UnorderedElementsAre("log"));
}

TEST_F(WholeFile, AFileThatMayBeWrittenInAFolderThatMayNot) {
  write("s", "of an earlier run, and longer");
  ASSERT_EQ(::chmod(file("s").c_str(), 0666), 0);
  ASSERT_EQ(::chmod(file("").c_str(), 0555), 0);
  EXPECT_TRUE(test::inChild([&] {
    constexpr uid_t kNobody = 65534;
    ASSERT_TRUE(::geteuid() != 0 || ::setuid(kNobody) == 0);
    EXPECT_TRUE(checkWritable(file("s")));
    EXPECT_TRUE(writeWhole(file("s"), "text"));
    EXPECT_FALSE(checkWritable(file("other")));
    const auto refused = writeWhole(file("other"), "text");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "Permission denied");
  }));
  EXPECT_EQ(read("s"), "text");
  ASSERT_EQ(::chmod(file("").c_str(), 0755), 0);
}

TEST_F(WholeFile, ALinkOrAnotherSpellingLeadsToTheSame) {
  fs::create_directory(file("folder"));
  fs::create_symlink("trace", file("link"));
  EXPECT_TRUE(leadsTo(file("trace"), file("trace")));
  EXPECT_TRUE(leadsTo(file("folder/../trace"), file("trace")));
  EXPECT_TRUE(leadsTo(file("link"), file("trace")));
  EXPECT_TRUE(leadsTo(file("link"), file("link")));
  EXPECT_TRUE(leadsTo(file("trace"), file("link")));
  EXPECT_FALSE(leadsTo(file("trace.json"), file("trace")));
  EXPECT_FALSE(leadsTo(file("folder/trace"), file("trace")));
}

}  // namespace
}  // namespace sonde
