#include "session/cost_loops.h"

#include "analysis/model/words.h"
#include "session/calibration_rule.h"
#include "session/cost_program.h"
#include "session/session_page.h"
#include "session/sources.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace sonde::session {
namespace {

namespace fs = std::filesystem;
using engine::correction::MeasuredCost;

constexpr std::chrono::seconds kMostTime{2};       // of one of them
constexpr std::chrono::seconds kMostCudaTime{10};  // where a GPU is made ready first
constexpr std::uint64_t kSpoolBytes = 16 << 20;
constexpr double kRelativeError = 0.5;

using Costs = std::map<std::pair<std::string, std::string>, double>;

std::vector<char*> pointersTo(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts)
    pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// It has said all that it is asked for, or nothing in its time.
void endChild(pid_t child) {
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

struct CostProgram {
  std::string path;
  std::vector<std::string> arguments;
  std::chrono::seconds mostTime = kMostTime;
  // Whether it shows what calls cost while their probe is off: without `cuda` in any iteration
  // CUPTI is not there at all, but it stays where blocks of iterations are without it.
  bool showsOff = true;
  int rounds = 1;  // of several: with their spread as an error
};

// What the program writes until it ends, or its time is over; empty: it could not be run.
std::string outputOf(const CostProgram& program, const std::vector<std::string>& environment) {
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
  const auto until = std::chrono::steady_clock::now() + program.mostTime;
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

Costs costsIn(const std::string& text) {
  Costs costs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find('|');
    const auto second = line.find('|', first + 1);
    if (second == std::string::npos)
      continue;
    double ns = 0;
    const auto parsed = std::from_chars(line.data() + second + 1, line.data() + line.size(), ns);
    if (parsed.ec == std::errc())
      costs[{line.substr(0, first), line.substr(first + 1, second - first - 1)}] = ns;
  }
  return costs;
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

// Of a program bare, recorded, and with probes off, if it shows that.
struct Measured {
  Costs bare;
  Costs on;
  Costs off;
  std::map<Costs::key_type, std::vector<double>> differences;  // on - bare, of each round
};

// What disturbs a run makes its calls longer, never shorter.
void keepLeast(const Costs& found, Costs& into) {
  for (const auto& [place, ns] : found) {
    const auto [at, isNew] = into.try_emplace(place, ns);
    if (!isNew)
      at->second = std::min(at->second, ns);
  }
}

Measured run(const CostProgram& program,
             const CostLoops& loops,
             const Spool& on,
             const Spool& off) {
  std::vector<std::string> bare = loops.environment;
  bare.insert(bare.begin(), "PYTHONPATH=" + loops.installation.pythonFolder.string());
  const auto recorded = [&](const Spool& spool) {
    InjectionRequest request;
    request.spoolFolder = spool.folder();
    request.companions = request.called = companionsOf(loops.probeMask);
    return costsIn(
        outputOf(program, injectedEnvironment(loops.environment, loops.installation, request)));
  };
  Measured measured;
  for (int round = 0; round < program.rounds; ++round) {
    const Costs alone = costsIn(outputOf(program, bare));
    if (alone.empty())
      break;  // it cannot be run here
    const Costs with = recorded(on);
    for (const auto& [place, ns] : with)
      if (const auto at = alone.find(place); at != alone.end())
        measured.differences[place].push_back(ns - at->second);
    keepLeast(alone, measured.bare);
    keepLeast(with, measured.on);
    if (program.showsOff)
      keepLeast(recorded(off), measured.off);
  }
  return measured;
}

// Of the differences of several rounds: half of the way from the least to the most.
double spreadOf(const std::vector<double>& differences) {
  const auto [least, most] = std::minmax_element(differences.begin(), differences.end());
  return (*most - *least) / 2;
}

bool isMaskable(const std::string& probe) {
  return (static_cast<std::uint32_t>(model::probeBit(probe)) & wire::kMaskableProbes) != 0;
}

void addDifferences(const Measured& measured, std::vector<MeasuredCost>& into) {
  for (const auto& [place, differences] : measured.differences) {
    // Not less than nothing; half of it before the begin of a scope is stamped.
    const double more = std::max(measured.on.at(place) - measured.bare.at(place), 0.0);
    const double spread = spreadOf(differences);
    if (differences.size() > 1 && more <= spread)
      continue;  // nothing is told
    const double before = place.second.starts_with("scope") ? 0.5 : 0.1;
    MeasuredCost cost{place.first,
                      place.second,
                      std::nullopt,
                      {before * more, 0.05 * more, (0.95 - before) * more},
                      std::hypot(kRelativeError * more, spread),
                      "micro-loop"};
    const auto off = measured.off.find(place);
    if (isMaskable(place.first))
      cost.unrecordedNs = off == measured.off.end()
                              ? more
                              : std::clamp(off->second - measured.bare.at(place), 0.0, more);
    into.push_back(std::move(cost));
  }
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
  addDifferences(run({"/proc/self/exe", {kCostProgram}}, loops, *on, *off), costs);
  if (!loops.cupti.empty())
    addDifferences(run({.path = "/proc/self/exe",
                        .arguments = {kCostProgram, loops.cupti, std::to_string(loops.localRank)},
                        .mostTime = kMostCudaTime,
                        .showsOff = false,
                        .rounds = 3},
                       loops,
                       *on,
                       *off),
                   costs);
  const std::string script = (loops.installation.pythonFolder / "sonde" / "_cost.py").string();
  if (!loops.python.empty())
    addDifferences(run({loops.python, {loops.python, script}}, loops, *on, *off), costs);
  // What the run does not record costs next to nothing.
  std::erase_if(costs, [&](const MeasuredCost& cost) {
    return (loops.probeMask & static_cast<std::uint32_t>(model::probeBit(cost.probe))) == 0;
  });
  return costs;
}

}  // namespace sonde::session
