#include "recorder/launcher/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

namespace sonde::launcher {

namespace {

bool readFully(int descriptor, void* buffer, std::size_t length) {
  auto* bytes = static_cast<char*>(buffer);
  while (length > 0) {
    const ssize_t got = read(descriptor, bytes, length);
    if (got == 0 || (got < 0 && errno != EINTR))
      return false;
    if (got > 0) {
      bytes += got;
      length -= static_cast<std::size_t>(got);
    }
  }
  return true;
}

bool writeFully(int descriptor, const void* buffer, std::size_t length) {
  const auto* bytes = static_cast<const char*>(buffer);
  while (length > 0) {
    const ssize_t put = write(descriptor, bytes, length);
    if (put < 0 && errno != EINTR)
      return false;
    if (put > 0) {
      bytes += put;
      length -= static_cast<std::size_t>(put);
    }
  }
  return true;
}

std::vector<char*> pointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Waits for the environment: its length, then its entries, each ended by a zero.
bool receiveEnvironment(int gate, std::vector<std::string>& environment) {
  std::uint64_t length = 0;
  if (!readFully(gate, &length, sizeof length))
    return false;
  std::string text(length, '\0');
  if (!readFully(gate, text.data(), length))
    return false;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\0', begin) + 1)
    environment.emplace_back(text.c_str() + begin);
  return true;
}

// A program for another machine is not a script, although execve returns ENOEXEC for both.
bool isElf(const std::string& path) {
  char magic[4] = {};
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool elf = file >= 0 && readFully(file, magic, sizeof magic) &&
                   std::memcmp(magic, "\177ELF", sizeof magic) == 0;
  if (file >= 0)
    close(file);
  return elf;
}

// The forked child. The recorder has one thread, so the whole library may be used here.
[[noreturn]] void runChild(const Program& program, const SignalRelay& relay, int gate, int report) {
  std::vector<std::string> environment;
  if (!receiveEnvironment(gate, environment))
    _exit(0);
  relay.restoreInChild();
  std::vector<std::string> arguments = program.arguments;
  auto environmentPointers = pointersTo(environment);
  execve(program.path.c_str(), pointersTo(arguments).data(), environmentPointers.data());
  int error = errno;
  if (error == ENOEXEC &&
      !isElf(program.path)) {  // a script without `#!`, which execvp(3) and every shell give to sh
    arguments.insert(arguments.begin(), "/bin/sh");
    arguments[1] = program.path;
    execve("/bin/sh", pointersTo(arguments).data(), environmentPointers.data());
    error = errno;
  }
  writeFully(report, &error, sizeof error);
  _exit(127);
}

}  // namespace

Result<Child> Child::fork(const Program& program, const SignalRelay& relay) {
  int gate[2], report[2];
  if (pipe2(gate, O_CLOEXEC) != 0)
    return Error{ErrorCode::Io,
                 fmt::format("cannot make a pipe: {}", std::generic_category().message(errno))};
  if (pipe2(report, O_CLOEXEC) != 0) {
    const int error = errno;
    close(gate[0]);
    close(gate[1]);
    return Error{ErrorCode::Io,
                 fmt::format("cannot make a pipe: {}", std::generic_category().message(error))};
  }
  Child child;
  child.pid_ = ::fork();
  const int error = errno;
  if (child.pid_ == 0) {
    close(gate[1]);
    close(report[0]);
    runChild(program, relay, gate[0], report[1]);
  }
  close(gate[0]);
  close(report[1]);
  child.gate_ = gate[1];
  child.report_ = report[0];
  if (child.pid_ < 0)
    return Error{ErrorCode::Io,
                 fmt::format("cannot start a process: {}", std::generic_category().message(error))};
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      gate_(std::exchange(other.gate_, -1)),
      report_(std::exchange(other.report_, -1)) {}

Child::~Child() {
  if (gate_ >= 0)
    abandon();
  if (report_ >= 0)
    close(report_);
}

int Child::release(const std::vector<std::string>& environment) {
  std::string text;
  for (const std::string& entry : environment)
    text.append(entry).push_back('\0');
  const std::uint64_t length = text.size();
  const bool sent =
      writeFully(gate_, &length, sizeof length) && writeFully(gate_, text.data(), text.size());
  const int sendError = errno;
  close(std::exchange(gate_, -1));
  int error = 0;
  if (sent && !readFully(report_, &error, sizeof error))
    return 0;
  waitpid(pid_, nullptr, 0);
  return sent ? error : sendError;
}

void Child::abandon() {
  close(std::exchange(gate_, -1));
  if (pid_ > 0)
    waitpid(pid_, nullptr, 0);
}

}  // namespace sonde::launcher
