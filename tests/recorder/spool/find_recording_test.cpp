#include "recorder/spool/find_recording.h"

#include "recorder/launcher/process_stat.h"
#include "tests/recorder/scratch_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace sonde::recorder {
namespace {

using ::testing::HasSubstr;

// An idle process that lives as long as the test.
class Sleeper {
 public:
  Sleeper() : pid_(fork()) {
    if (pid_ == 0)
      for (;;)
        pause();
  }
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

class FindRecording : public testing::Test {
 protected:
  // A session in the scratch folder whose recorder has this pid.
  std::filesystem::path session(const char* name, pid_t launcher, std::uint64_t startTime) const {
    const auto folder = place_.path() / fmt::format("sonde-{}", geteuid()) / name;
    std::filesystem::create_directories(folder);
    Manifest manifest;
    manifest.session = name;
    manifest.output = place_.path() / (std::string(name) + ".sonde");
    manifest.part = manifest.output.string() + ".part";
    manifest.launcherPid = launcher;
    manifest.launcherStartTime = startTime;
    manifest.bootId = currentBootId();
    EXPECT_TRUE(writeManifest(folder, manifest));
    return folder;
  }
  static void addSpool(const std::filesystem::path& folder, pid_t pid, std::uint64_t startTime) {
    struct stat info {};
    ASSERT_EQ(stat("/proc/self/ns/pid", &info), 0);
    std::ofstream(
        folder /
        fmt::format(
            "{}-{}-{}-{}-0.spool", currentBootId().substr(0, 8), info.st_ino, pid, startTime));
  }
  Result<FoundRecording> find(pid_t pid) const { return findRecording(pid, {place_.path()}); }

  ScratchFolder place_;
  Sleeper recorder_;
  Sleeper job_;
  std::uint64_t recorderStart_ = processStartTime(recorder_.pid());
  std::uint64_t jobStart_ = processStartTime(job_.pid());
};

TEST_F(FindRecording, ByItsRecorderOrByAProcessOfIt) {
  const auto folder = session("one", recorder_.pid(), recorderStart_);
  session("other", 1 << 22, 1);
  addSpool(folder, job_.pid(), jobStart_);
  for (const pid_t pid : {recorder_.pid(), job_.pid()}) {
    const auto found = find(pid);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->folder, folder);
    EXPECT_EQ(found->manifest.launcherPid, recorder_.pid());
  }
}

TEST_F(FindRecording, SaysWhyThereIsNone) {
  const auto folder = session("one", recorder_.pid(), recorderStart_);
  addSpool(folder, job_.pid(), jobStart_ + 1);  // the spool of an earlier process with its pid
  const auto unrecorded = find(job_.pid());
  ASSERT_FALSE(unrecorded);
  EXPECT_EQ(unrecorded.error().code, ErrorCode::NotFound);
  EXPECT_THAT(unrecorded.error().message, HasSubstr("is not recorded"));
  const auto none = find(1 << 22);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("there is no process"));
}

TEST_F(FindRecording, ThatIsDeadIsForRecover) {
  const auto folder = session("one", 1 << 22, 1);
  addSpool(folder, job_.pid(), jobStart_);
  const auto dead = find(job_.pid());
  ASSERT_FALSE(dead);
  EXPECT_EQ(dead.error().code, ErrorCode::NotFound);
  EXPECT_THAT(dead.error().message, HasSubstr("sonde recover"));
}

TEST_F(FindRecording, OfSeveralNamesTheirRecorders) {
  const Sleeper other;
  addSpool(session("one", recorder_.pid(), recorderStart_), job_.pid(), jobStart_);
  addSpool(session("two", other.pid(), processStartTime(other.pid())), job_.pid(), jobStart_);
  const auto several = find(job_.pid());
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(several.error().message, HasSubstr(std::to_string(recorder_.pid())));
  EXPECT_THAT(several.error().message, HasSubstr(std::to_string(other.pid())));
  const auto one = find(other.pid());
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->folder.filename(), "two");
}

TEST_F(FindRecording, OfOneThatIsDeadAndOneThatRunsIsTheOneThatRuns) {
  addSpool(session("dead", 1 << 22, 1), job_.pid(), jobStart_);
  addSpool(session("runs", recorder_.pid(), recorderStart_), job_.pid(), jobStart_);
  const auto found = find(job_.pid());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->folder.filename(), "runs");
}

}  // namespace
}  // namespace sonde::recorder
