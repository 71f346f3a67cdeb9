#include "analysis/engine/whatif/gradients/averaging.h"

#include "analysis/engine/whatif/gradients/measured_buckets.h"
#include "analysis/engine/whatif/transfer_edits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace sonde::engine::whatif {
namespace {

using graph::EdgeKind;
using graph::kNoNode;
using graph::NodeIndex;

bool isPowerOfTwo(std::int64_t value) {
  return value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value));
}

int bitsOf(std::int64_t powerOfTwo) {
  return std::countr_zero(static_cast<std::uint64_t>(powerOfTwo));
}

Result<void> checkGroups(std::int64_t ranks, std::int64_t size) {
  if (!isPowerOfTwo(ranks))
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("groups that change need a number of ranks that is a power of two, and "
                    "{} ranks reduce gradients together",
                    ranks)};
  if (!isPowerOfTwo(size) || size < 2 || size > ranks)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("a group of {} is not a power of two from 2 to the {} ranks that "
                             "reduce gradients together",
                             size,
                             ranks)};
  return {};
}

// Divides collectives among groups of ranks, each of which meets alone.
class GroupEdits {
 public:
  explicit GroupEdits(Scenario& scenario)
      : scenario_(scenario), edits_(scenario), firstMade_(scenario.setting().transfers.size()) {
    structure_.dropped.assign(scenario.graph().edges(), false);
  }

  const TransferEdits& edits() const noexcept { return edits_; }

  // `size`: whose all-reduce takes `ns`. `group`: the parts that wait for each other.
  void divide(const JobCollective& bucket,
              const std::vector<std::size_t>& group,
              std::int64_t size,
              double ns) {
    divided_.insert(bucket.key());
    if (bucket.isOnDevice)
      meetOnDevices(bucket, group, size, ns);
    else
      meetOnThreads(bucket, group, size, ns);
  }

  // Other calls on threads still wait for all their ranks, which no longer come together by
  // themselves.
  void keepOthers(const std::vector<JobCollective>& all) {
    std::map<std::string, std::int64_t> endNs;  // by communicator
    for (const JobCollective& each : all) {
      if (each.isOnDevice || !each.isComplete() || divided_.contains(each.key()) ||
          edits_.isReplaced(each))
        continue;
      std::int64_t& end = endNs.emplace(each.communicator, each.lastArrivalNs()).first->second;
      const std::int64_t begin = std::max(end, each.lastArrivalNs());
      end = std::max(begin, each.endNs());
      edits_.set(each, static_cast<double>(end - begin), Origin::Measured);
      names_.emplace(each.communicator, each.communicator);
    }
  }

  // Errors are those of Scenario::restructure().
  Result<void> apply() {
    if (made_.empty()) {
      SONDE_TRY(edits_.apply());
    } else {
      SONDE_TRY(scenario_.restructure(structure_));
    }
    JobSetting& setting = scenario_.setting();
    for (std::size_t i = firstMade_; i < setting.transfers.size(); ++i)
      setting.transfers[i].communicator = names_.at(setting.transfers[i].communicator);
    setting.transfers.insert(setting.transfers.end(), made_.begin(), made_.end());
    setting.replaced.merge(divided_);
    return {};
  }

 private:
  // A rank's transfer begins when its group's kernels have begun.
  void meetOnDevices(const JobCollective& bucket,
                     const std::vector<std::size_t>& group,
                     std::int64_t size,
                     double ns) {
    const graph::Graph& graph = scenario_.graph();
    for (const std::size_t place : group) {
      const NodeIndex transfer = edits_.transferOf(bucket.parts[place]);
      if (transfer == kNoNode)
        continue;
      for (std::uint32_t edge = graph.firstIn[transfer]; edge < graph.firstIn[transfer + 1]; ++edge)
        structure_.dropped[edge] = graph.lane[graph.from[edge]] != graph.lane[transfer];
      for (const std::size_t other : group) {
        const CollectivePart& part = bucket.parts[other];
        const NodeIndex kernel = edits_.lookup().beginsFrom(part.lane, part.beginNs);
        structure_.edges.push_back(
            {kernel, transfer, other == place ? EdgeKind::Arrival : EdgeKind::Data});
      }
      scenario_.setNode(transfer, std::llround(ns), Origin::Modelled);
      made_.push_back({transfer, bucket.communicator, bucket.op, bucket.bytes, size});
    }
  }

  // Groups of the same ranks use the network one after the other.
  void meetOnThreads(const JobCollective& bucket,
                     const std::vector<std::size_t>& group,
                     std::int64_t size,
                     double ns) {
    JobCollective own = bucket;
    own.communicator = fmt::format("{}/{}", bucket.communicator, fmt::join(group, "-"));
    own.ranks = size;
    own.parts.clear();
    for (const std::size_t place : group)
      own.parts.push_back(bucket.parts[place]);
    edits_.set(own, ns, Origin::Modelled);
    names_.emplace(own.communicator, bucket.communicator);
  }

  Scenario& scenario_;
  TransferEdits edits_;
  std::size_t firstMade_;
  Scenario::Structure structure_;             // of devices
  std::vector<MadeTransfer> made_;            // the same
  std::map<std::string, std::string> names_;  // of communicators, by those of their groups
  std::set<CollectiveKey> divided_;
};

std::string averagingNote(const Averaging& of, std::int64_t ranks, std::int64_t size) {
  return fmt::format(
      "each bucket is averaged in groups of {} of {} ranks, which change in each iteration. {}. "
      "Whether training learns as well from such averages is not predicted",
      size,
      ranks,
      of.waits ? "A group waits for its own ranks alone"
               : "No rank waits for others: late ones take part with what they had");
}

}  // namespace

std::int64_t defaultGroupSize(std::int64_t ranks) {
  std::int64_t size = 1;
  while (size * size < ranks)
    size *= 2;
  return size;
}

std::vector<std::vector<std::size_t>> averagingGroups(std::int64_t ranks,
                                                      std::int64_t size,
                                                      std::int64_t iteration) {
  const int bits = bitsOf(ranks);
  const int chosen = bitsOf(size);
  std::size_t mask = 0;
  for (int i = 0; i < chosen; ++i)
    mask |= std::size_t{1} << (iteration * chosen + i) % bits;
  std::map<std::size_t, std::vector<std::size_t>> byRest;
  for (std::size_t place = 0; place < static_cast<std::size_t>(ranks); ++place)
    byRest[place & ~mask].push_back(place);
  std::vector<std::vector<std::size_t>> groups;
  groups.reserve(byRest.size());
  for (auto& [rest, places] : byRest)
    groups.push_back(std::move(places));
  return groups;
}

Question averaging(Averaging of) {
  return [of](Asking& asking) -> Result<void> {
    GroupEdits edits(asking.scenario);
    SONDE_TRY_ASSIGN(const MeasuredBuckets buckets, readMeasuredBuckets(asking, edits.edits()));
    SONDE_TRY(checkAllreduces(buckets, "averages of groups"));
    const std::int64_t ranks = buckets.largest->ranks;
    const std::int64_t size = of.size.value_or(defaultGroupSize(ranks));
    SONDE_TRY(checkGroups(ranks, size));
    for (std::size_t i = 0; i < buckets.iterations.size(); ++i) {
      const auto groups = averagingGroups(ranks, of.waits ? size : 1, static_cast<std::int64_t>(i));
      for (const JobCollective* bucket : buckets.iterations[i].buckets)
        for (const std::vector<std::size_t>& group : groups)
          edits.divide(
              *bucket, group, size, buckets.model.ns(costOf(bucket->op, bucket->bytes, size)));
    }
    edits.keepOthers(buckets.all);
    SONDE_TRY(edits.apply());
    asking.modelError = std::max(asking.modelError, buckets.model.error);
    asking.notes.push_back(averagingNote(of, ranks, size));
    noteOtherReductions(buckets, asking.notes);
    return {};
  };
}

}  // namespace sonde::engine::whatif
