#include "analysis/ingest/input/byte_source.h"

#include "tests/ingest/input/gzip_text.h"
#include "tests/support/in_child.h"
#include "tests/support/run_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>
#include <string>
#include <utility>

namespace sonde::ingest {
namespace {

using test::gzip;

std::string numbers(std::size_t count) {
  std::mt19937 random(1);
  std::string text;
  for (std::size_t number = 0; number < count; ++number)
    text += std::to_string(random()) + ",";
  return text;
}

class ByteSourceTest : public ::testing::Test {
 protected:
  struct Read {
    std::string text;
    std::string error;
  };

  Read read(const std::string& bytes, std::size_t step = 100'000) {
    const std::string path = folder_ / "file";
    test::writeText(path, bytes);
    auto source = ByteSource::open(path);
    EXPECT_TRUE(source) << source.error().message;
    EXPECT_EQ(source->fileBytes(), bytes.size());
    Read result;
    std::string part(step, '\0');
    for (;;) {
      const auto got = source->read(part);
      if (!got) {
        result.error = got.error().message;
        EXPECT_FALSE(source->read(part)) << "reading goes on after an error";
        return result;
      }
      if (*got == 0)
        break;
      result.text.append(part, 0, *got);
    }
    EXPECT_EQ(source->fileBytesRead(), bytes.size());
    return result;
  }

  test::TemporaryFolder folder_;
};

TEST_F(ByteSourceTest, GivesAPlainFileAsItIs) {
  const std::string text = numbers(100'000);
  EXPECT_EQ(read(text).text, text);
  EXPECT_EQ(read(text, 7).text, text);
  EXPECT_EQ(read("").text, "");
}

TEST_F(ByteSourceTest, InflatesGzip) {
  const std::string text = numbers(200'000);
  EXPECT_EQ(read(gzip(text)).text, text);
  EXPECT_EQ(read(gzip("")).text, "");
}

TEST_F(ByteSourceTest, InflatesTheMembersOfAGzipFileAndItsPadding) {
  const std::string text = numbers(20'000);
  EXPECT_EQ(read(gzip(text) + gzip("end") + std::string(1000, '\0')).text, text + "end");
}

TEST_F(ByteSourceTest, SaysWhereGzipIsCutShortAfterWhatCameBefore) {
  const std::string text = numbers(20'000);
  const std::string whole = gzip(text);
  for (std::size_t size = 2; size < whole.size(); size += 997) {
    const Read result = read(whole.substr(0, size));
    ASSERT_NE(result.error.find("ends too early, at byte " + std::to_string(size)),
              std::string::npos)
        << result.error;
    ASSERT_EQ(result.text, text.substr(0, result.text.size()));
  }
}

TEST_F(ByteSourceTest, SaysWhereGzipIsDamaged) {
  std::string bytes = gzip(numbers(20'000));
  bytes[bytes.size() / 2] ^= 0x55;
  EXPECT_NE(read(bytes).error.find("damaged at byte "), std::string::npos);
  EXPECT_NE(read(gzip("a") + "not gzip").error.find("damaged at byte "), std::string::npos);
}

TEST_F(ByteSourceTest, RefusesWhatIsNoFile) {
  EXPECT_EQ(ByteSource::open(folder_ / "absent").error().code, ErrorCode::NotFound);
  const auto folder = ByteSource::open(folder_.path());
  EXPECT_EQ(folder.error().code, ErrorCode::Corrupt);
  EXPECT_NE(folder.error().message.find("is a folder"), std::string::npos);
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(ByteSource::open(pipe).error().code, ErrorCode::Corrupt);
}

TEST_F(ByteSourceTest, SaysWhatToDoAboutAFileThatCannotBeRead) {
  test::writeText(folder_ / "file", "x");
  const std::pair<std::string, std::string> calls[] = {
      {folder_ / "file/x", "(Not a directory): check the name"},
      {folder_ / std::string(300, 'x'), "(File name too long): check the name"},
      {"/proc/self/mem", "(Input/output error): try again, or with a copy on another disk"}};
  for (const auto& [name, why] : calls) {
    const auto refused = ByteSource::open(name);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "cannot read '" + name + "' " + why);
  }
  ASSERT_EQ(::chmod((folder_ / "file").c_str(), 0), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  EXPECT_TRUE(test::inChild([&] {
    constexpr uid_t kNobody = 65534;
    ASSERT_TRUE(::geteuid() != 0 || ::setuid(kNobody) == 0);
    const auto refused = ByteSource::open(folder_ / "file");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                ::testing::EndsWith("(Permission denied): check its permissions"));
  }));
}

}  // namespace
}  // namespace sonde::ingest
