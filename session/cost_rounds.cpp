#include "session/cost_rounds.h"

#include "analysis/model/words.h"
#include "collector/wire/calibration.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <system_error>

namespace sonde::session {
namespace {

using engine::correction::MeasuredCost;

constexpr double kRelativeError = 0.5;

// What disturbs a run makes its calls longer, never shorter.
void keepLeast(const CallTimes::key_type& place, double ns, CallTimes& into) {
  const auto [at, isNew] = into.try_emplace(place, ns);
  if (!isNew)
    at->second = std::min(at->second, ns);
}

double spreadOf(const std::vector<double>& differences) {
  const auto [least, most] = std::minmax_element(differences.begin(), differences.end());
  return (*most - *least) / 2;
}

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

std::vector<MeasuredCost> costsOf(const std::vector<CostRound>& rounds, const Evidence& needed) {
  CallTimes bare;
  CallTimes on;
  CallTimes off;
  std::map<CallTimes::key_type, std::vector<double>> differences;
  bool showsOff = false;
  for (const CostRound& round : rounds) {
    for (const auto& [place, ns] : round.on) {
      const auto alone = round.bare.find(place);
      if (alone == round.bare.end())
        continue;
      differences[place].push_back(ns - alone->second);
      keepLeast(place, alone->second, bare);
      keepLeast(place, ns, on);
    }
    showsOff = showsOff || round.off.has_value();
    for (const auto& [place, ns] : round.off.value_or(CallTimes()))
      keepLeast(place, ns, off);
  }
  std::vector<MeasuredCost> costs;
  for (const auto& [place, ofRounds] : differences) {
    const double more = on.at(place) - bare.at(place);
    const double spread = spreadOf(ofRounds);
    const auto whileOff = off.find(place);
    const bool stays = isMaskable(place.first);  // a part of it, while the probe is off
    if (ofRounds.size() < needed.rounds || more <= (needed.beyondSpread ? spread : 0) ||
        (stays && showsOff && (whileOff == off.end() || whileOff->second >= on.at(place))))
      continue;  // nothing is told
    MeasuredCost cost{place.first,
                      place.second,
                      std::nullopt,
                      engine::correction::usualSplit(place.first, place.second, more),
                      std::hypot(kRelativeError * more, spread),
                      std::string(engine::correction::method::kMicroLoop)};
    if (stays)
      cost.unrecordedNs =
          showsOff ? std::max(whileOff->second - bare.at(place), 0.0) : cost.cost.sumNs();
    costs.push_back(std::move(cost));
  }
  return costs;
}

}  // namespace sonde::session
