#include "analysis/engine/pipeline/model_parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace sonde::engine::pipeline {
namespace {

using graph::LaneIndex;

constexpr std::int64_t kUnknown = -1;

class PartFinder {
 public:
  explicit PartFinder(const Computations& of) : of_(of) {
    found_.part.assign(of.all.size(), kUnknown);
    found_.originOf.assign(of.all.size(), kUnknown);
  }

  Result<ModelParts> find() {
    joinLanes();
    SONDE_TRY(numberCopies());
    // Backwards begin on the last part, which only forwards tell.
    for (const bool isForward : {true, false}) {
      for (std::size_t each = 0; each < of_.all.size(); ++each)
        if (of_.all[each].isForward == isForward)
          SONDE_TRY(follow(each));
      if (isForward)
        findLastParts();
    }
    SONDE_TRY(placeLanes());
    return std::move(found_);
  }

 private:
  LaneIndex rootOf(LaneIndex lane) {
    while (joined_.at(lane) != lane)
      lane = joined_.at(lane);
    return lane;
  }

  // Lanes that send each other messages are a copy of the model.
  void joinLanes() {
    for (const auto& [lane, all] : of_.ofLanes)
      joined_.emplace(lane, lane);
    for (const Computation& each : of_.all)
      if (each.producer)
        joined_[rootOf(each.lane)] = rootOf(of_.all[*each.producer].lane);
  }

  Result<void> numberCopies() {
    std::map<LaneIndex, std::size_t> ofRoots;
    std::vector<std::int64_t> stages;
    for (const auto& [lane, all] : of_.ofLanes) {
      const std::size_t copy = ofRoots.emplace(rootOf(lane), ofRoots.size()).first->second;
      stages.resize(ofRoots.size(), 0);
      ++stages[copy];
      found_.places[lane].copy = copy;
    }
    found_.copies = stages.size();
    if (stages.empty())
      return notFound(
          "a pipeline has forwards and backwards: no slice of the trace has such a name or kind");
    found_.stages = stages.front();
    if (found_.stages < 2)
      return notFound(
          "the stages of a pipeline send messages to each other: the trace has none between the "
          "threads that compute forwards and backwards");
    if (std::any_of(stages.begin(), stages.end(), [&](auto n) { return n != found_.stages; }))
      return notFound("the copies of the model have different numbers of pipeline stages");
    lastParts_.assign(found_.copies, 0);
    return {};
  }

  // Follows the messages back to a computation that is known, and from there on.
  Result<void> follow(std::size_t index) {
    std::vector<std::size_t> path;
    for (std::size_t at = index; found_.part[at] == kUnknown; at = *of_.all[at].producer) {
      path.push_back(at);
      if (path.size() > of_.all.size())
        return notFound("the messages of the pipeline's stages lead in a circle");
      if (!of_.all[at].producer)
        break;
    }
    while (!path.empty()) {
      const std::size_t at = path.back();
      path.pop_back();
      const Computation& of = of_.all[at];
      if (!of.producer) {
        found_.part[at] = of.isForward ? 0 : lastParts_[found_.places[of.lane].copy];
        found_.originOf[at] = static_cast<std::int64_t>(at);
      } else {
        found_.part[at] = found_.part[*of.producer] + (of.isForward ? 1 : -1);
        found_.originOf[at] = found_.originOf[*of.producer];
      }
    }
    return {};
  }

  void findLastParts() {
    for (std::size_t each = 0; each < of_.all.size(); ++each) {
      std::int64_t& last = lastParts_[found_.places[of_.all[each].lane].copy];
      last = std::max(last, found_.part[each]);
    }
  }

  // All parts of a lane are its stage, modulo the number of stages.
  Result<void> placeLanes() {
    std::set<std::pair<std::size_t, std::int64_t>> used;
    for (auto& [lane, place] : found_.places) {
      place.stage = found_.part[of_.ofLanes.at(lane).front()] % found_.stages;
      bool isAlike = used.emplace(place.copy, place.stage).second;
      for (const std::size_t each : of_.ofLanes.at(lane))
        isAlike =
            isAlike && found_.part[each] >= 0 && found_.part[each] % found_.stages == place.stage;
      if (!isAlike)
        return notFound(
            "the messages do not pass all stages one after the other: the trace may lack some of "
            "them");
    }
    found_.chunks = lastParts_.front() / found_.stages + 1;
    for (const std::int64_t last : lastParts_)
      if (last + 1 != found_.chunks * found_.stages)
        return notFound("the stages of the pipeline have different numbers of model chunks");
    return {};
  }

  const Computations& of_;
  ModelParts found_;
  std::map<LaneIndex, LaneIndex> joined_;
  std::vector<std::int64_t> lastParts_;  // by copy
};

}  // namespace

Result<ModelParts> partsOf(const Computations& computations) {
  return PartFinder(computations).find();
}

}  // namespace sonde::engine::pipeline
