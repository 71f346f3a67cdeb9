#include "recorder/launcher/group_witness.h"

#include "recorder/launcher/process_stat.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace sonde::launcher {

namespace {

constexpr int kLookEveryMs = 50;
constexpr int kStoppedPatienceMs = 200;
constexpr int kPatienceMs = 5000;

// Answers each signal number with one byte.
[[noreturn]] void witness(int socket) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  prctl(PR_SET_NAME, "sonde-witness");
  for (int stream = 0; stream < 3; ++stream)
    close(stream);  // readers of the job's output must not wait for this process
  unsigned char number = 0;
  while (read(socket, &number, 1) == 1) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    const timespec now{};
    const unsigned char answer = sigtimedwait(&one, nullptr, &now) == number ? 1 : 0;
    if (write(socket, &answer, 1) != 1)
      break;
  }
  _exit(0);
}

}  // namespace

Result<GroupWitness> GroupWitness::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{ErrorCode::Io,
                 fmt::format("no socket pair: {}", std::generic_category().message(errno))};
  // A fork whose end sends no SIGCHLD. wait(2) ignores such a child, so it does not count as one of
  // the job's.
  const auto pid = static_cast<pid_t>(syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr));
  const int error = errno;
  if (pid == 0) {
    close(ends[0]);
    witness(ends[1]);
  }
  close(ends[1]);
  GroupWitness made;
  made.pid_ = pid;
  made.socket_ = ends[0];
  if (pid < 0)
    return Error{ErrorCode::Io,
                 fmt::format("cannot start a process: {}", std::generic_category().message(error))};
  return made;
}

GroupWitness::GroupWitness(GroupWitness&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), socket_(std::exchange(other.socket_, -1)) {}

GroupWitness::~GroupWitness() {
  if (socket_ >= 0)
    close(socket_);
  if (pid_ > 0) {
    kill(pid_, SIGKILL);  // in case it was stopped
    waitpid(pid_, nullptr, __WALL);
  }
}

// On a busy machine the witness may have to wait for its turn; a stopped one may never get one.
bool GroupWitness::answers() const {
  pollfd descriptor{socket_, POLLIN, 0};
  for (int waited = 0; waited < kPatienceMs; waited += kLookEveryMs) {
    if (poll(&descriptor, 1, kLookEveryMs) == 1)
      return true;
    const auto stat = readProcessStat(pid_);
    if (stat && stat->state == 'T' && waited >= kStoppedPatienceMs)
      return false;
  }
  return false;
}

// A signal to the group may arrive between the recorder's read and the witness's. It then merges
// with the pending one for the witness, but is a second one for the recorder.
bool GroupWitness::got(int number) {
  const bool wasCovered = covered_[static_cast<std::size_t>(number)];
  const bool itDid = ask(number);
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  covered_[static_cast<std::size_t>(number)] = itDid && sigismember(&pending, number) == 1;
  return itDid || wasCovered;
}

bool GroupWitness::ask(int number) {
  if (socket_ < 0)
    return false;
  auto asked = static_cast<unsigned char>(number);
  unsigned char answer = 0;
  const bool answered =
      send(socket_, &asked, 1, MSG_NOSIGNAL) == 1 && answers() && read(socket_, &answer, 1) == 1;
  if (!answered)
    close(std::exchange(socket_, -1));
  return answered && answer == 1;
}

}  // namespace sonde::launcher
