#include "analysis/ingest/stacks/still_threads.h"

#include "collector/wire/stack_records.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace sonde::ingest {
namespace {

constexpr std::size_t kMostStillThreads = 256;

std::string contentOf(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();  // does not throw when the process ends meanwhile
  return text.str();
}

struct WaitingPlace {
  std::uint64_t stackPointer = 0;
  std::uint64_t instruction = 0;
};

// From /proc/PID/task/TID/syscall: the number of a call, its arguments, the stack pointer and the
// instruction pointer; or "running".
std::optional<WaitingPlace> placeOf(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> all;
  for (std::string word; words >> word;)
    all.push_back(word);
  if (all.size() < 3 || all.front() == "running")
    return std::nullopt;
  const auto number = [](const std::string& word) {
    std::uint64_t value = 0;
    const std::size_t skip = word.starts_with("0x") ? 2 : 0;
    std::from_chars(word.data() + skip, word.data() + word.size(), value, 16);
    return value;
  };
  return WaitingPlace{number(all[all.size() - 2]), number(all.back())};
}

}  // namespace

StillProcess readStillThreads(pid_t process) {
  StillProcess still;
#ifdef __x86_64__
  const ForeignMemory memory(process);
  still.maps = contentOf(fmt::format("/proc/{}/maps", process));
  auto python = readPythonThreads(memory, parseMaps(still.maps));
  std::error_code failure;
  for (const auto& task :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), failure)) {
    if (still.threads.size() == kMostStillThreads)
      break;
    const auto place = placeOf(contentOf(task.path() / "syscall"));
    if (!place)
      continue;
    StillThread thread;
    const std::string name = task.path().filename();
    std::from_chars(name.data(), name.data() + name.size(), thread.tid);
    thread.registers[kStackPointer] = place->stackPointer;
    thread.registers[kInstructionPointer] = place->instruction;
    thread.stackAddress = place->stackPointer - wire::kRedZoneBytes;
    thread.stack.resize(wire::kMaxStackBytes);
    thread.stack.resize(
        memory.readSome(thread.stackAddress, thread.stack.data(), thread.stack.size()));
    if (const auto found = python.find(thread.tid); found != python.end())
      thread.python = std::move(found->second);
    if (!thread.stack.empty())
      still.threads.push_back(std::move(thread));
  }
#else
  (void)process;
#endif
  return still;
}

}  // namespace sonde::ingest
