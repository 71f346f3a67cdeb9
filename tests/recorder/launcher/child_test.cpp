#include "recorder/launcher/child.h"

#include "tests/support/target_files.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace sonde::launcher {
namespace {

using test::readAll;
using test::ScratchFolder;

class ChildTest : public ::testing::Test {
 protected:
  void SetUp() override {
    pthread_sigmask(SIG_SETMASK, nullptr, &before_);
    auto relay = SignalRelay::install();
    ASSERT_TRUE(relay);
    relay_.emplace(*std::move(relay));
  }
  void TearDown() override {
    relay_->restoreInChild();  // restores this process
  }

  // Runs it to the end; returns the wait status.
  int run(const Program& program, const std::vector<std::string>& environment) {
    auto child = Child::fork(program, *relay_);
    EXPECT_TRUE(child);
    EXPECT_EQ(child->release(environment), 0);
    int status = -1;
    waitpid(child->pid(), &status, 0);
    return status;
  }

  ScratchFolder folder_;
  std::optional<SignalRelay> relay_;
  sigset_t before_{};
};

TEST_F(ChildTest, RunsWithTheEnvironmentGivenAtTheEnd) {
  const std::string out = folder_.path("out");
  const std::string script = "printf '%s|%s' \"$A\" \"$0\" > " + out;
  EXPECT_EQ(run({"/bin/sh", {"/bin/sh", "-c", script, "zero"}}, {"A=one two", "EMPTY="}), 0);
  EXPECT_EQ(readAll(out), "one two|zero");
}

TEST_F(ChildTest, AnAbandonedChildHasRunNothing) {
  const std::string out = folder_.path("out");
  {
    auto child = Child::fork({"/bin/sh", {"sh", "-c", "echo ran > " + out}}, *relay_);
    ASSERT_TRUE(child);
    EXPECT_EQ(kill(child->pid(), 0), 0);
  }
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "and is no zombie";
}

TEST_F(ChildTest, ReportsWhatExecveSays) {
  auto child = Child::fork({folder_.path("nothing"), {"nothing"}}, *relay_);
  ASSERT_TRUE(child);
  EXPECT_EQ(child->release({}), ENOENT);
}

TEST_F(ChildTest, AScriptWithoutAFirstLineGoesToTheShell) {
  const std::string script = folder_.write("script", "exit $#\n");
  const int status = run({script, {"script", "a", "b"}}, {});
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST_F(ChildTest, HasTheMaskAndDispositionsOfBefore) {
  const std::string out = folder_.path("out");
  EXPECT_EQ(run({"/bin/sh", {"sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status > " + out}},
                {"PATH=/usr/bin:/bin"}),
            0);
  const std::string expected = folder_.path("expected");
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  ASSERT_NE(readAll(out).find("SigBlk:\t0000000000000000"), std::string::npos) << readAll(out);
  EXPECT_EQ(readAll(out).find("SigIgn:\t0000000001001000"), std::string::npos)
      << "SIGPIPE and SIGXFSZ are ignored by the recorder alone";
}

TEST_F(ChildTest, ALargeEnvironmentArrivesWhole) {
  std::vector<std::string> environment = {"PATH=/usr/bin:/bin"};
  for (int i = 0; i < 3000; ++i)
    environment.push_back("V" + std::to_string(i) + "=" + std::string(100, 'x'));
  const std::string out = folder_.path("out");
  EXPECT_EQ(run({"/bin/sh", {"sh", "-c", "env | grep -c '^V' > " + out}}, environment), 0);
  EXPECT_EQ(readAll(out), "3000\n");
}

}  // namespace
}  // namespace sonde::launcher
