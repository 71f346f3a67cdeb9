#include "base/spawned.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace sonde {
namespace {

namespace fs = std::filesystem;

constexpr std::array<int, 3> kInterrupts = {SIGINT, SIGTERM, SIGHUP};
std::atomic<pid_t> gChild{-1};
std::atomic<int> gEarly{0};  // an interrupt that came before the program's pid was known

void passOn(int signal) {
  const int kept = errno;
  if (const pid_t child = gChild.load(); child > 0)
    kill(child, signal);
  else
    gEarly.store(signal);
  errno = kept;
}

// Passes interrupts on to the program during its lifetime. Ignored signals stay ignored.
class PassedOn {
 public:
  PassedOn() {
    gEarly.store(0);
    for (std::size_t at = 0; at < kInterrupts.size(); ++at) {
      sigaction(kInterrupts[at], nullptr, &before_[at]);
      if (before_[at].sa_handler == SIG_IGN)
        continue;
      struct sigaction action {};
      action.sa_handler = passOn;
      sigaction(kInterrupts[at], &action, nullptr);
    }
  }
  PassedOn(const PassedOn&) = delete;
  PassedOn& operator=(const PassedOn&) = delete;
  ~PassedOn() {
    gChild.store(-1);
    for (std::size_t at = 0; at < kInterrupts.size(); ++at)
      sigaction(kInterrupts[at], &before_[at], nullptr);
  }

 private:
  std::array<struct sigaction, kInterrupts.size()> before_{};
};

}  // namespace

Result<int> runToItsEnd(const fs::path& program,
                        const std::vector<std::string>& words,
                        const fs::path& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(
      &actions, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  std::vector<char*> argv;
  for (const std::string& word : words)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const PassedOn interrupts;
  pid_t child = -1;
  const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return Error{ErrorCode::Io, std::generic_category().message(error)};
  gChild.store(child);
  if (const int signal = gEarly.exchange(0); signal != 0)
    kill(child, signal);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code failure;
  std::string name = (fs::temp_directory_path(failure) / "sonde-XXXXXX").string();
  if (failure || mkdtemp(name.data()) == nullptr)
    return Error{
        ErrorCode::Io,
        fmt::format("cannot create a temporary folder ({}): set TMPDIR to a writable folder",
                    failure ? failure.message() : std::generic_category().message(errno))};
  return TemporaryFolder(name);
}

TemporaryFolder::TemporaryFolder(fs::path path) : path_(std::move(path)) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty())
    fs::remove_all(path_, ignored);
}

}  // namespace sonde
