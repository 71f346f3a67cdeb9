#include "analysis/ingest/stacks/still_threads.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace sonde::ingest {
namespace {

// A child that runs `act`; killed at the end.
class Child {
 public:
  template <typename Act>
  explicit Child(Act act) : pid_(fork()) {
    if (pid_ == 0) {
      act();
      _exit(0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(StillThreads, ReadsAThreadThatWaits) {
  const Child child([] {
    for (;;)
      pause();
  });
  StillProcess still;
  for (int tries = 0; tries < 1000 && still.threads.empty(); ++tries) {
    still = readStillThreads(child.pid());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_EQ(still.threads.size(), 1U);
  const StillThread& thread = still.threads.front();
  EXPECT_EQ(thread.tid, child.pid());
  EXPECT_TRUE(thread.python.empty());
  const std::uint64_t top = thread.registers[kStackPointer];
  EXPECT_LT(thread.stackAddress, top);
  EXPECT_LT(top, thread.stackAddress + thread.stack.size());
  // The instruction is in code of the process, and the callers can be found.
  CodeMap code;
  code.update(parseMaps(still.maps));
  EXPECT_NE(code.find(thread.registers[kInstructionPointer]), nullptr);
  Unwinder unwinder(code);
  Unwound unwound;
  unwinder.unwind({thread.registers, thread.stack, thread.stackAddress}, unwound);
  const auto isIn = [&](const char* function) {
    return std::any_of(
        unwound.addresses.begin(), unwound.addresses.end(), [&](std::uint64_t address) {
          const MappedCode* const mapped = code.find(address);
          if (mapped == nullptr || mapped->file == nullptr)
            return false;
          const CodeFunction* const found = mapped->file->functionAt(address - mapped->bias);
          return found != nullptr && found->name.find(function) != std::string::npos;
        });
  };
  EXPECT_TRUE(isIn("pause"));
  EXPECT_TRUE(isIn("ReadsAThreadThatWaits"));
}

TEST(StillThreads, LeavesOutAThreadThatRuns) {
  const Child child([] {
    for (volatile int always = 1; always != 0;) {
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(readStillThreads(child.pid()).threads.empty());
}

TEST(StillThreads, KnowsNothingOfAProcessThatIsGone) {
  pid_t gone = 0;
  {
    const Child child([] {});
    gone = child.pid();
  }
  EXPECT_TRUE(readStillThreads(gone).threads.empty());
}

}  // namespace
}  // namespace sonde::ingest
