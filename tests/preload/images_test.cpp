// The life of processes in real programs: forks, new images that are followed, and images that are
// left alone.
#include "tests/support/spool_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace sonde::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string target(const std::string& name) {
  return SONDE_TARGETS "/" + name;
}

class Images : public ::testing::Test {
 protected:
  // Otherwise a child that opens a file before its exec would have an image of its own.
  Images() { recording_.setProbes(~(1U << static_cast<unsigned>(wire::Probe::Io))); }

  void run(const std::vector<std::string>& words) {
    const Finished plain = runProgram(words);
    const Finished recorded = recording_.run(words);
    EXPECT_EQ(recorded.status, plain.status);
    EXPECT_EQ(recorded.out, plain.out);
    EXPECT_EQ(recorded.err, plain.err);
    processes_ = recording_.read();
  }

  // The root is the process whose parent has not recorded.
  const RecordedProcess& root() const {
    static const RecordedProcess none;
    std::set<std::int32_t> pids;
    for (const RecordedProcess& process : processes_)
      pids.insert(process.identity.pid);
    const auto found =
        std::find_if(processes_.begin(), processes_.end(), [&](const RecordedProcess& process) {
          return !pids.contains(process.identity.parentPid);
        });
    return found == processes_.end() ? none : *found;
  }

  std::vector<RecordedExec> execs() const {
    std::vector<RecordedExec> all;
    for (const RecordedProcess& process : processes_)
      all.insert(all.end(), process.execs.begin(), process.execs.end());
    return all;
  }

  SpoolRecording recording_;
  std::vector<RecordedProcess> processes_;
};

auto leftAlone(const std::string& path, const std::string& reason) {
  return Contains(
      ::testing::AllOf(Field(&RecordedExec::path, path), Field(&RecordedExec::reason, reason)));
}

TEST_F(Images, EveryMemberOfTheExecFamilyIsFollowed) {
  run({target("fork_then_exec")});
  EXPECT_THAT(processes_, SizeIs(9));
  EXPECT_THAT(root().forks, SizeIs(8));
  for (const RecordedProcess& process : processes_)
    EXPECT_TRUE(&process == &root() ||
                std::count(root().forks.begin(), root().forks.end(), process.identity.pid) == 1);
}

TEST_F(Images, AnExecAfterVforkIsFollowedWithAnEmptyEnvironment) {
  run({target("vfork_exec")});
  EXPECT_THAT(processes_, SizeIs(2));
  EXPECT_THAT(root().execs, SizeIs(1));  // the one that failed replaced no image
}

TEST_F(Images, PosixSpawnIsFollowedWithAnEmptyEnvironment) {
  run({target("posix_spawn_empty_env")});
  EXPECT_THAT(processes_, SizeIs(5));
  EXPECT_THAT(root().forks, SizeIs(4));
}

TEST_F(Images, SystemAndPopenAreFollowedAlsoAfterClearenv) {
  run({target("popen_system")});
  EXPECT_THAT(processes_, SizeIs(5));
}

TEST_F(Images, SystemAgainAndAgainTakesNoMoreMemory) {
  run({target("system_again")});
  EXPECT_EQ(processes_.size(), 1U + 2 + 60);
}

TEST_F(Images, EnvironmentIsCarriedThroughEnv) {
  run({"env", "-i", "/bin/echo", "bare"});
  EXPECT_THAT(execs(), Contains(Field(&RecordedExec::path, "/bin/echo")));
  EXPECT_THAT(processes_, SizeIs(2));  // env and the program that it became
}

TEST_F(Images, ADaemonIsFollowed) {
  const TemporaryFolder folder;
  run({target("daemonise"), folder / "word"});
  EXPECT_EQ(readText(folder / "word"), "daemon");
  EXPECT_GE(processes_.size(), 2U);
}

TEST_F(Images, ACrashHandlerOnASmallStackRunsItsPrograms) {
  run({target("exec_on_signal_stack")});
  EXPECT_THAT(processes_, SizeIs(4));
}

TEST_F(Images, AProgramInStrictModeIsNotKilled) {
  if (runProgram({target("seccomp_strict")}).status == 77)
    GTEST_SKIP() << "seccomp's strict mode is not to be had here";
  run({target("seccomp_strict")});
  ASSERT_THAT(processes_, SizeIs(1));
  EXPECT_THAT(root().slices, ElementsAre(Field(&RecordedSlice::name, "open")));
  EXPECT_THAT(root().marks, ElementsAre(Field(&RecordedSlice::name, "seccomp strict mode")));
}

// The parent's annotations are complete whatever its children did. Each child's are its own, or are
// counted as lost.
TEST_F(Images, ForksInTheMiddleOfAnnotationsStayApart) {
  const Finished recorded = recording_.run({target("fork_in_emit")});
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  processes_ = recording_.read();
  ASSERT_EQ(processes_.size(), 21U);
  std::uint64_t interrupted = 0;
  for (const RecordedProcess& process : processes_) {
    if (&process == &root())
      continue;
    const auto marks = [&](const std::string& name) {
      return static_cast<std::uint64_t>(
          std::count_if(process.marks.begin(), process.marks.end(), [&](const RecordedSlice& mark) {
            return mark.name == name;
          }));
    };
    EXPECT_EQ(marks("afterwards"), 10U);
    EXPECT_EQ(marks("in the handler") + process.lost(wire::Probe::Annotation), 1U);
    EXPECT_LE(process.slices.size(), 1U);  // the one in which it forked
    interrupted += process.lost(wire::Probe::Annotation);
  }
  EXPECT_GT(interrupted, 0U);
  EXPECT_THAT(root().marks, SizeIs(1));
  EXPECT_EQ(root().slices.size(), std::stoul(recorded.out));
  EXPECT_EQ(root().lost(wire::Probe::Annotation), 0U);
  for (const RecordedSlice& slice : root().slices)
    ASSERT_TRUE(slice.name == "operation" && slice.end >= slice.begin);
}

TEST_F(Images, RunpathOfTheCallerStillCounts) {
  run({target("dlopen_runpath")});
}

TEST_F(Images, ExceptionsAndCancellationsPassThroughWrappers) {
  run({target("exception_through_wrapper")});
}

TEST_F(Images, AStaticProgramIsLeftAlone) {
  run({"sh", "-c", target("hello_static") + "; " + target("hello_static")});
  EXPECT_THAT(execs(), leftAlone(target("hello_static"), "static"));
}

TEST_F(Images, ASanitizedProgramIsLeftAlone) {
  for (const char* name : {"hello_asan", "hello_tsan"}) {
    run({"sh", "-c", target(name) + "; " + target(name)});
    EXPECT_THAT(execs(), leftAlone(target(name), "sanitizer"));
  }
}

TEST_F(Images, ASetuidProgramIsLeftAlone) {
  const TemporaryFolder folder;
  const std::string copy = folder / "hello";
  std::filesystem::copy_file(target("say_hello"), copy);
  using std::filesystem::perms;
  std::filesystem::permissions(copy, perms::set_uid | perms::owner_all);
  run({"sh", "-c", copy + "; " + copy});
  EXPECT_THAT(execs(), leftAlone(copy, "setuid"));
}

// As in a job that has changed to another user's rights.
TEST_F(Images, AnExecWithoutAccessToTheSpoolSaysSo) {
  const std::string script = R"(mv "$SONDE_SESSION" "$SONDE_SESSION.away"; exec /bin/echo out)";
  recording_.run({"sh", "-c", script});
  recording_.run({"sh", "-c", R"(mv "$SONDE_SESSION.away" "$SONDE_SESSION")"});
  processes_ = recording_.read();
  EXPECT_THAT(execs(), leftAlone("/bin/echo", "no access to the spool"));
}

TEST_F(Images, AScriptCountsAsItsInterpreter) {
  const TemporaryFolder folder;
  const std::string script = folder / "script";
  writeText(script, "#! " + target("hello_static") + " word\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  run({"sh", "-c", script + "; " + script});
  EXPECT_THAT(execs(), leftAlone(script, "static"));
}

#ifdef SONDE_HELLO_32BIT
TEST_F(Images, A32BitProgramIsLeftAloneInSilence) {
  run({"sh", "-c", target("hello_32bit") + "; " + target("hello_32bit")});
  EXPECT_THAT(execs(), leftAlone(target("hello_32bit"), "32-bit"));
}
#endif

TEST_F(Images, ShellsInterpretersAndGitRunUnharmed) {
  const TemporaryFolder folder;
  run({"bash",
       "-c",
       "set -o pipefail; for i in 1 2 3; do echo $i | sort -r | cat; done; exec sh -c 'exit 3'"});
  run({"python3",
       "-c",
       "import subprocess as s, socket\nprint(s.run(['ls', '/'], env={}, "
       "capture_output=True).stdout)\n"
       "a, b = socket.socketpair()\na.sendall(b'x' * 99999 if 0 else b'x')\nprint(b.recv(9))"});
  run({"git", "init", "-q", folder / "repository"});
  run({"git",
       "-C",
       folder / "repository",
       "-c",
       "user.name=n",
       "-c",
       "user.email=e",
       "commit",
       "-q",
       "--allow-empty",
       "-m",
       "m"});
  run({"git", "-C", folder / "repository", "log", "--format=%s"});
}

}  // namespace
}  // namespace sonde::test
