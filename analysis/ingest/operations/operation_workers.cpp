// How OperationPlaces finds the workers of a file: their stages and ranks.
#include "analysis/ingest/operations/operation_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace sonde::ingest {
namespace {

// A worker's streams have consecutive tids: 5 × its rank + the number of the stream.
constexpr std::int64_t kStreams = 5;
constexpr std::string_view kStreamNames[kStreams] = {
    "compute", "pp-comm", "tp-comm", "dp-comm", "misc"};

std::int64_t groupOf(std::int64_t tid) noexcept {
  return tid >= 0 ? tid / kStreams : -1;
}

// The number behind `word` in a text: 1 for "PP rank " in "PP rank 1, compute".
OptionalNumber numberBehind(std::string_view text, std::string_view word) noexcept {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos)
    return {};
  text.remove_prefix(at + word.size());
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc{} && number >= 0 ? OptionalNumber(number) : OptionalNumber();
}

}  // namespace

Result<void> OperationPlaces::formWorkers(const std::optional<OperationLayout>& layout) {
  SONDE_TRY(readNames(layout.has_value()));
  if (layout && !streams_.front().stage)
    SONDE_TRY(stagesByGroup(*layout));
  SONDE_TRY(makeWorkers());
  if (layout)
    SONDE_TRY(checkLayout(*layout));
  SONDE_TRY(checkStages());
  numberRanks(layout);
  return {};
}

// Takes the stages from the names, or from none of them.
Result<void> OperationPlaces::readNames(bool hasLayout) {
  const Stream* nameless = nullptr;
  for (Stream& stream : streams_) {
    const auto name = names_.find(Key{stream.dataParallel, stream.tid});
    if (name != names_.end())
      stream.name = name->second;
    stream.stage = numberBehind(stream.name, "PP rank ");
    stream.tensorParallel = numberBehind(stream.name, "TP rank ");
    if (!stream.stage)
      nameless = &stream;
  }
  if (nameless == nullptr)
    return {};
  if (!hasLayout)
    return Error{ErrorCode::Unsupported,
                 fmt::format("the name of thread {} of pid {} does not have the pipeline stage "
                             "(\"PP rank 0, …\"): give the layout with --layout dp=N,pp=N,tp=N",
                             nameless->tid,
                             nameless->dataParallel)};
  for (Stream& stream : streams_)
    stream.stage = {};
  return {};
}

Result<void> OperationPlaces::stagesByGroup(const OperationLayout& layout) {
  std::map<std::int64_t, std::set<std::int64_t>> groups;  // by data-parallel rank
  for (const Stream& stream : streams_)
    groups[stream.dataParallel].insert(groupOf(stream.tid));
  for (const auto& [dataParallel, ofRank] : groups)
    if (static_cast<std::int64_t>(ofRank.size()) != layout.pipeline)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("the layout has {} stages, but pid {} has {} groups of threads",
                               layout.pipeline,
                               dataParallel,
                               ofRank.size())};
  for (Stream& stream : streams_) {
    const auto& ofRank = groups[stream.dataParallel];
    const auto at = ofRank.find(groupOf(stream.tid));
    stream.stage = std::distance(ofRank.begin(), at);
    if (stream.name.empty() && stream.tid >= 0)
      stream.name = kStreamNames[stream.tid % kStreams];
  }
  return {};
}

Result<void> OperationPlaces::makeWorkers() {
  std::map<Key, std::vector<Stream*>> members;  // by data-parallel rank and stage
  for (Stream& stream : streams_)
    members[Key{stream.dataParallel, *stream.stage}].push_back(&stream);
  for (const auto& [key, streams] : members) {
    Worker worker;
    worker.id = writer_.reserveId<model::ProcessId>();
    worker.dataParallel = key.first;
    worker.stage = key.second;
    for (Stream* const stream : streams) {
      if (stream->tensorParallel != streams.front()->tensorParallel)
        return Error{ErrorCode::Unsupported,
                     fmt::format("tensor-parallel ranks of pid {}, stage {} are apart: import a "
                                 "file with one of them",
                                 key.first,
                                 key.second)};
      stream->worker = workers_.size();
      worker.firstNs = std::min(worker.firstNs, stream->firstNs);
      worker.lastNs = std::max(worker.lastNs, stream->lastNs);
    }
    workers_.push_back(worker);
  }
  return {};
}

// Each data-parallel rank has all stages.
Result<void> OperationPlaces::checkStages() const {
  std::int64_t stages = 0;
  std::map<std::int64_t, std::set<std::int64_t>> present;  // by data-parallel rank
  for (const Worker& worker : workers_) {
    stages = std::max(stages, worker.stage + 1);
    present[worker.dataParallel].insert(worker.stage);
  }
  for (const auto& [dataParallel, ofRank] : present) {
    std::int64_t missing = 0;
    while (ofRank.count(missing) > 0)
      ++missing;
    if (missing < stages)
      return Error{ErrorCode::Unsupported,
                   fmt::format("pid {} has no operation of stage {}, and the job has {} stages",
                               dataParallel,
                               missing,
                               stages)};
  }
  return {};
}

Result<void> OperationPlaces::checkLayout(const OperationLayout& layout) const {
  std::set<std::int64_t> dataParallel;
  std::set<std::int64_t> stages;
  for (const Worker& worker : workers_) {
    dataParallel.insert(worker.dataParallel);
    stages.insert(worker.stage);
  }
  if (static_cast<std::int64_t>(dataParallel.size()) == layout.dataParallel &&
      static_cast<std::int64_t>(stages.size()) == layout.pipeline)
    return {};
  return Error{ErrorCode::InvalidArgument,
               fmt::format("the layout has {} data-parallel ranks and {} stages, but the file has "
                           "{} and {}",
                           layout.dataParallel,
                           layout.pipeline,
                           dataParallel.size(),
                           stages.size())};
}

// Numbers the ranks as the tids do, or else as Megatron-LM does: data-parallel ranks of a stage
// are neighbours.
void OperationPlaces::numberRanks(const std::optional<OperationLayout>& layout) {
  const auto count = static_cast<std::int64_t>(workers_.size());
  const std::int64_t stages = workers_.back().stage + 1;
  const std::int64_t tensorParallel = layout ? layout->tensorParallel : 1;
  worldSize_ = layout ? layout->ranks() : model::OptionalInt();
  if (ranksOfTids())
    return;
  for (std::int64_t at = 0; at < count; ++at) {
    const std::int64_t dataParallel = at / stages;  // its position
    Worker& worker = workers_[static_cast<std::size_t>(at)];
    worker.rank = (worker.stage * (count / stages) + dataParallel) * tensorParallel;
  }
  worldSize_ = worldSize_.value_or(count);
}

// False: the tids of a worker belong to several ranks, those of two workers to one, or the layout
// has fewer ranks. A distance between ranks that is everywhere the same is the number of
// tensor-parallel ranks, which gives the size of the job.
bool OperationPlaces::ranksOfTids() {
  std::map<std::int64_t, std::size_t> owners;  // worker by rank
  std::set<std::size_t> numbered;
  for (const Stream& stream : streams_) {
    const std::int64_t rank = groupOf(stream.tid);
    const auto owner = owners.try_emplace(rank, stream.worker);
    const bool isFirst = !owner.second || numbered.insert(stream.worker).second;
    if (rank < 0 || owner.first->second != stream.worker || !isFirst)
      return false;
  }
  const std::int64_t last = owners.rbegin()->first;
  if (worldSize_ && last >= *worldSize_)
    return false;
  for (const auto& [rank, worker] : owners)
    workers_[worker].rank = rank;
  const auto count = static_cast<std::int64_t>(owners.size());
  const std::int64_t distance = count == 1 ? 1 : std::next(owners.begin())->first;
  std::int64_t expected = 0;
  for (const auto& [rank, worker] : owners) {
    if (rank != expected)
      return true;
    expected += distance;
  }
  worldSize_ = worldSize_.value_or(expected);
  return true;
}

}  // namespace sonde::ingest
