#include "session/cost_loops.h"

#include "analysis/model/words.h"
#include "session/calibration_rule.h"
#include "session/cost_program.h"
#include "session/cost_rounds.h"
#include "session/session_page.h"
#include "session/sources.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace sonde::session {
namespace {

namespace fs = std::filesystem;
using engine::correction::MeasuredCost;

constexpr std::chrono::seconds kMostTime{6};       // of all runs of one of them
constexpr std::chrono::seconds kMostCudaTime{20};  // where a GPU is made ready first
constexpr std::chrono::seconds kMostDying{1};
constexpr std::uint64_t kSpoolBytes = 16 << 20;

using Deadline = std::chrono::steady_clock::time_point;

std::vector<char*> pointersTo(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts)
    pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// It has said all that it is asked for, or nothing in its time. A child that hangs in a driver does
// not even die: it is left.
void endChild(pid_t child) {
  kill(child, SIGKILL);
  const Deadline until = std::chrono::steady_clock::now() + kMostDying;
  while (waitpid(child, nullptr, WNOHANG) == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

struct CostProgram {
  std::string path;
  std::vector<std::string> arguments;
  std::chrono::seconds mostTime = kMostTime;  // of all its runs together
  // Whether it shows what calls cost while their probe is off: without `cuda` in any iteration
  // CUPTI is not there at all, but it stays where blocks of iterations are without it.
  bool showsOff = true;
  std::size_t rounds = 1;  // of several two at least are needed
};

// What the program writes until it ends; empty: it could not be run, or not in time.
std::string outputOf(const CostProgram& program,
                     const std::vector<std::string>& environment,
                     Deadline until) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int error = posix_spawn(&child,
                                program.path.c_str(),
                                &actions,
                                nullptr,
                                pointersTo(program.arguments).data(),
                                pointersTo(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  while (error == 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      text.clear();
      break;
    }
    pollfd ready{ends[0], POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(left.count())) <= 0)
      continue;  // interrupted, or late
    const ssize_t count = read(ends[0], buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  if (error == 0)
    endChild(child);
  return text;
}

// A session of its own, which nobody drains, for as long as this lives.
class Spool {
 public:
  // With `off` probes that can be switched off record in no iteration.
  static std::optional<Spool> open(const CostLoops& loops, bool off) {
    fs::path folder = loops.session / kCostFolders[off ? 1 : 0];
    if (mkdir(folder.c_str(), 0700) != 0)
      return std::nullopt;
    auto page = SessionPage::create(folder, loops.probeMask, kSpoolBytes);
    if (!page) {
      remove(folder);
      return std::nullopt;
    }
    if (off)
      page->setCalibration(
          calibrationRule({wire::kBlockIterations, wire::kMaskableProbes}, loops.probeMask, ""));
    return Spool(std::move(folder), *std::move(page));
  }
  Spool(Spool&& other) noexcept
      : folder_(std::exchange(other.folder_, {})), page_(std::move(other.page_)) {}
  Spool& operator=(Spool&&) = delete;
  ~Spool() {
    if (!folder_.empty())
      remove(folder_);
  }

  const fs::path& folder() const { return folder_; }

 private:
  static void remove(const fs::path& folder) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  Spool(fs::path folder, SessionPage page) : folder_(std::move(folder)), page_(std::move(page)) {}

  fs::path folder_;
  SessionPage page_;
};

std::vector<CostRound> run(const CostProgram& program,
                           const CostLoops& loops,
                           const Spool& on,
                           const Spool& off) {
  const Deadline until = std::chrono::steady_clock::now() + program.mostTime;
  std::vector<std::string> bare = loops.environment;
  bare.insert(bare.begin(), "PYTHONPATH=" + loops.installation.pythonFolder.string());
  const auto recorded = [&](const Spool& spool) {
    InjectionRequest request;
    request.spoolFolder = spool.folder();
    request.companions = request.called = companionsOf(loops.probeMask);
    return callTimesIn(outputOf(
        program, injectedEnvironment(loops.environment, loops.installation, request), until));
  };
  std::vector<CostRound> rounds;
  while (rounds.size() < program.rounds) {
    CostRound round{callTimesIn(outputOf(program, bare, until)), {}, std::nullopt};
    if (round.bare.empty())
      break;  // it cannot be run here, or its time is over
    round.on = recorded(on);
    if (program.showsOff)
      round.off = recorded(off);
    rounds.push_back(std::move(round));
  }
  return rounds;
}

}  // namespace

std::string pythonOf(const std::string& program) {
  return fs::path(program).filename().string().starts_with("python") ? program : std::string();
}

std::vector<MeasuredCost> measureCosts(const CostLoops& loops) {
  std::vector<MeasuredCost> costs;
  const auto on = Spool::open(loops, false);
  const auto off = Spool::open(loops, true);
  if (!on || !off)
    return costs;
  std::vector<CostProgram> programs = {{"/proc/self/exe", {kCostProgram}}};
  if (!loops.cupti.empty())
    programs.push_back({.path = "/proc/self/exe",
                        .arguments = {kCostProgram, loops.cupti, std::to_string(loops.localRank)},
                        .mostTime = kMostCudaTime,
                        .showsOff = false,
                        .rounds = 3});
  const std::string script = (loops.installation.pythonFolder / "sonde" / "_cost.py").string();
  if (!loops.python.empty())
    programs.push_back({loops.python, {loops.python, script}});
  for (const CostProgram& program : programs)
    for (MeasuredCost& cost :
         costsOf(run(program, loops, *on, *off), std::min<std::size_t>(program.rounds, 2)))
      costs.push_back(std::move(cost));
  // What the run does not record costs next to nothing.
  std::erase_if(costs, [&](const MeasuredCost& cost) {
    return (loops.probeMask & static_cast<std::uint32_t>(model::probeBit(cost.probe))) == 0;
  });
  return costs;
}

}  // namespace sonde::session
