#include "recorder/calibrate/cost_rounds.h"

#include "analysis/model/words.h"
#include "collector/wire/calibration.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <system_error>

namespace sonde::recorder {
namespace {

using engine::correction::MeasuredCost;

constexpr double kRelativeError = 0.5;

// The two fastest times of a call.
struct Least {
  double ns = std::numeric_limits<double>::infinity();
  double secondNs = ns;

  void add(double of) {
    secondNs = std::min(secondNs, std::max(ns, of));
    ns = std::min(ns, of);
  }
  double errorNs() const { return secondNs - ns; }
};

bool isMaskable(const std::string& probe) {
  return (static_cast<std::uint32_t>(model::probeBit(probe)) & wire::kMaskableProbes) != 0;
}

}  // namespace

CallTimes callTimesIn(const std::string& text) {
  CallTimes times;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find('|');
    const auto second = line.find('|', first + 1);
    if (second == std::string::npos)
      continue;
    double ns = 0;
    const auto parsed = std::from_chars(line.data() + second + 1, line.data() + line.size(), ns);
    if (parsed.ec == std::errc())
      times[{line.substr(0, first), line.substr(first + 1, second - first - 1)}] = ns;
  }
  return times;
}

std::vector<MeasuredCost> costsOf(const std::vector<CostRound>& rounds) {
  struct Ways {
    Least bare;
    Least on;
    Least off;
  };
  std::map<CallTimes::key_type, Ways> calls;
  bool showsOff = false;
  for (const CostRound& round : rounds) {
    for (const auto& [place, ns] : round.on) {
      const auto alone = round.bare.find(place);
      if (alone == round.bare.end())
        continue;
      calls[place].bare.add(alone->second);
      calls[place].on.add(ns);
    }
    showsOff = showsOff || round.off.has_value();
    for (const auto& [place, ns] : round.off.value_or(CallTimes()))
      calls[place].off.add(ns);
  }
  std::vector<MeasuredCost> costs;
  for (const auto& [place, ways] : calls) {
    const double more = ways.on.ns - ways.bare.ns;
    // Infinite with one round, NaN with none.
    const double chance = std::hypot(ways.on.errorNs(), ways.bare.errorNs());
    // A part of the cost remains while the probe is off.
    const bool stays = isMaskable(place.first);
    if (!(more > chance) || (stays && showsOff && ways.off.ns >= ways.on.ns))
      continue;  // no cost is reported
    MeasuredCost cost{place.first,
                      place.second,
                      std::nullopt,
                      engine::correction::usualSplit(place.first, place.second, more),
                      std::hypot(kRelativeError * more, chance),
                      std::string(engine::correction::method::kMicroLoop)};
    if (stays)
      cost.unrecordedNs = showsOff ? std::max(ways.off.ns - ways.bare.ns, 0.0) : cost.cost.sumNs();
    costs.push_back(std::move(cost));
  }
  return costs;
}

}  // namespace sonde::recorder
