#include "recorder/calibrate/cost_loops.h"

#include "analysis/model/words.h"
#include "recorder/calibrate/cost_cache.h"
#include "recorder/calibrate/cost_program.h"
#include "recorder/calibrate/cost_rounds.h"
#include "recorder/calibrate/cuda_use.h"
#include "recorder/environment/program_output.h"
#include "recorder/options/calibration_rule.h"
#include "recorder/options/sources.h"
#include "recorder/spool/session_page.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;
using engine::correction::MeasuredCost;

constexpr std::chrono::seconds kMostTime{6};  // of all runs of a program without a GPU
constexpr std::uint64_t kSpoolBytes = 16 << 20;
constexpr std::size_t kMostRounds = 3;
constexpr char kInterrupted[] = "it was interrupted";
constexpr char kNoRoom[] = "the spool has no room to record a program that makes them";

struct CostProgram {
  std::string path;
  std::vector<std::string> arguments;
  // Whether the program can measure calls while their probe is off. A program that only annotates
  // cannot, because annotations are never off. A program that uses CUDA cannot either: if `cuda` is
  // off in all iterations, CUPTI is not loaded, but it stays loaded if `cuda` is off in some blocks
  // of iterations.
  bool showsOff = true;
};

// A separate session that nobody drains, for the object's lifetime.
class Spool {
 public:
  // With `off`, maskable probes are off in all iterations.
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

// The sessions in which the programs record.
struct Spools {
  Spool on;
  Spool off;
};

std::optional<Spools> openSpools(const CostLoops& loops) {
  auto on = Spool::open(loops, false);
  auto off = Spool::open(loops, true);
  if (!on || !off)
    return std::nullopt;
  return Spools{*std::move(on), *std::move(off)};
}

// nullopt: the program cannot run here, its time is over, or there is no room to record it.
std::optional<CostRound> roundOf(const CostProgram& program,
                                 const CostLoops& loops,
                                 const Allowance& allowance) {
  std::vector<std::string> bare = loops.environment;
  bare.insert(bare.begin(), "PYTHONPATH=" + loops.installation.pythonFolder.string());
  const auto timesIn = [&](const std::vector<std::string>& environment) {
    return callTimesIn(outputOf(program.path, program.arguments, environment, allowance));
  };
  const auto recorded = [&](const Spool& spool) {
    InjectionRequest request;
    request.spoolFolder = spool.folder();
    request.companions = request.called = companionsOf(loops.probeMask);
    return timesIn(injectedEnvironment(loops.environment, loops.installation, request));
  };
  const auto spools = openSpools(loops);  // new ones each time, because their records stay there
  if (!spools)
    return std::nullopt;
  CostRound round{timesIn(bare), {}, std::nullopt};
  if (round.bare.empty())
    return std::nullopt;
  round.on = recorded(spools->on);
  if (program.showsOff)
    round.off = recorded(spools->off);
  return round;
}

bool isRecorded(const CostLoops& loops, const std::string& probe) {
  return (loops.probeMask & static_cast<std::uint32_t>(model::probeBit(probe))) != 0;
}

bool areAllTold(const CallTimes& calls,
                const std::vector<MeasuredCost>& costs,
                const CostLoops& loops) {
  return std::all_of(calls.begin(), calls.end(), [&](const auto& call) {
    const CallTimes::key_type& place = call.first;
    return !isRecorded(loops, place.first) ||
           std::any_of(costs.begin(), costs.end(), [&](const MeasuredCost& cost) {
             return cost.probe == place.first && cost.api == place.second;
           });
  });
}

// Runs more rounds than needed if some calls have no cost yet, for example because the machine's
// speed changed between programs. Once `asked` requests a stop, runs no such rounds.
std::vector<CostRound> roundsOf(const CostProgram& program,
                                const CostLoops& loops,
                                const Allowance& allowance,
                                const std::stop_token& asked) {
  std::vector<CostRound> rounds;
  bool isEnough = false;
  while (!isEnough && rounds.size() < kMostRounds) {
    auto round = roundOf(program, loops, allowance);
    if (!round)
      break;
    rounds.push_back(*std::move(round));
    isEnough = rounds.back().on.empty() ||  // the next round would not record either
               (rounds.size() >= kRoundsNeeded &&
                (asked.stop_requested() || areAllTold(rounds.back().bare, costsOf(rounds), loops)));
  }
  return rounds;
}

std::vector<MeasuredCost> hostCosts(const CostLoops& loops, const std::stop_token& asked) {
  std::vector<CostProgram> programs = {{loops.program, {kCostProgram}}};
  const std::string script = (loops.installation.pythonFolder / "sonde" / "_cost.py").string();
  if (!loops.python.empty())
    programs.push_back({loops.python, {loops.python, script}, false});
  std::vector<MeasuredCost> costs;
  for (const CostProgram& program : programs) {
    const Allowance allowance{std::chrono::steady_clock::now() + kMostTime, {}};
    const auto ofProgram = costsOf(roundsOf(program, loops, allowance, asked));
    costs.insert(costs.end(), ofProgram.begin(), ofProgram.end());
  }
  return costs;
}

// The kept costs of earlier loops, or else new ones.
CachedCosts keptCosts(const CostLoops& loops, const std::stop_token& asked) {
  using std::chrono::floor;
  using std::chrono::seconds;
  const CostCache cache(loops.cache, {loops.build, loops.python, loops.probeMask});
  const auto now = floor<seconds>(std::chrono::system_clock::now());
  if (auto kept = loops.isAnew ? std::nullopt : cache.read(now))
    return *std::move(kept);
  if (!openSpools(loops))
    return {};
  CachedCosts found{hostCosts(loops, asked), now};
  if (!found.costs.empty() && !asked.stop_requested())
    cache.write(found);
  return found;
}

std::string whyNone(const std::vector<CostRound>& rounds,
                    const CostLoops& loops,
                    const Allowance& allowance) {
  if (allowance.asked.stop_requested())
    return kInterrupted;
  if (allowance.isOver())
    return fmt::format("the GPU took more than {} s",
                       static_cast<double>(loops.mostCudaTime.count()) / 1000);
  if (!rounds.empty() && rounds.size() <= kRoundsNeeded && rounds.back().on.empty())
    return "Sonde could not record a program that makes them";
  if (rounds.size() < kRoundsNeeded)
    return openSpools(loops) ? "a program that makes them did not run on the job's GPU" : kNoRoom;
  return "CUPTI's records do not make the calls of a program significantly slower";
}

CostsFound cudaCosts(const CostLoops& loops, const CudaUse& use, const std::stop_token& asked) {
  if (!loops.cudaHindrance.empty())
    return {{}, loops.cudaHindrance, {}};
  if (asked.stop_requested())
    return {{}, kInterrupted, {}};
  if (use.gpu.empty())
    return {{}, "the job's GPU is unknown", {}};
  if (anotherRecordingMayUse(use.gpu, loops.session, loops.places))
    return {{}, "another recording may use the same GPU", {}};
  if (!openSpools(loops))
    return {{}, kNoRoom, {}};
  if (loops.say)
    loops.say("the job has ended: measuring the cost of recording CUDA calls, for some seconds");
  const CostProgram program{loops.program, {kCostProgram, use.cupti, use.gpu}, false};
  const Allowance allowance{std::chrono::steady_clock::now() + loops.mostCudaTime, asked};
  const std::vector<CostRound> rounds = roundsOf(program, loops, allowance, asked);
  CostsFound found{costsOf(rounds), {}, {}};
  if (found.costs.empty())
    found.whyNoCuda = whyNone(rounds, loops, allowance);
  return found;
}

}  // namespace

std::string pythonOf(const std::string& program) {
  return fs::path(program).filename().string().starts_with("python") ? program : std::string();
}

CostsFound measureCosts(const CostLoops& loops, const std::stop_token& asked) {
  const CudaUse use = loops.cuda ? cudaUseOf(loops.part) : CudaUse();
  CachedCosts kept = keptCosts(loops, asked);
  CostsFound found{std::move(kept.costs), {}, kept.measured};
  if (!use.cupti.empty()) {
    CostsFound ofCuda = cudaCosts(loops, use, asked);
    found.whyNoCuda = std::move(ofCuda.whyNoCuda);
    std::move(ofCuda.costs.begin(), ofCuda.costs.end(), std::back_inserter(found.costs));
  }
  // Probes that the run does not record cost next to nothing.
  std::erase_if(found.costs,
                [&](const MeasuredCost& cost) { return !isRecorded(loops, cost.probe); });
  return found;
}

}  // namespace sonde::recorder
