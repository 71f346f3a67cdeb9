#include "analysis/engine/whatif/sharing/spatial.h"

#include "analysis/engine/whatif/compute/device_works.h"
#include "analysis/engine/whatif/job_lanes.h"
#include "analysis/engine/whatif/network/networks.h"
#include "analysis/engine/whatif/network/retimed_collectives.h"
#include "analysis/engine/whatif/sharing/image_operators.h"
#include "analysis/engine/whatif/sharing/long_run.h"
#include "analysis/engine/whatif/span_edits.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using graph::NodeIndex;

// The relative error of a part's time: small kernels are less efficient.
constexpr double kPart = 0.15;
constexpr double kLatencyNs = 5'000;  // of an exchange on a given network

struct OperatorKernel {
  std::int64_t id = 0;
  std::int64_t scopeId = 0;

  SONDE_COLUMNS(id, scopeId)
};

struct OperatorParent {
  std::int64_t id = 0;
  std::int64_t parentId = 0;

  SONDE_COLUMNS(id, parentId)
};

constexpr const char* kKernelScopes =
    "SELECT k.id, coalesce(k.scope_id, l.scope_id) AS scope_id FROM kernel k LEFT JOIN slice l ON "
    "l.id = k.launch_slice_id WHERE coalesce(k.scope_id, l.scope_id) NOTNULL";
constexpr const char* kOperatorParents =
    "SELECT id, coalesce(parent_id, 0) AS parent_id FROM slice WHERE kind = 'operator'";

// α and β of an exchange with one neighbour.
struct HaloLink {
  double latencyNs = 0;
  double byteNs = 0;
  double error = 0.2;
};

class Dividing {
 public:
  Dividing(Asking& asking, const Spatial& of) : asking_(asking), of_(of) {}

  Result<void> run() {
    SONDE_TRY_ASSIGN(images_, readImageOperators(asking_.trace));
    if (images_.withSizes == 0)
      return notFound(
          "the trace has no sizes of its operators, so nothing says which work on images: record "
          "with --torch-operators shapes, or torch.profiler's record_shapes=True");
    if (images_.convolutions == 0)
      return notFound("the trace has no convolutions on images, which ranks could share");
    SONDE_TRY_ASSIGN(collectives_, readCollectives(asking_.trace, asking_.scenario.job()));
    SONDE_TRY(findLink());
    SONDE_TRY(readParents());
    SONDE_TRY_ASSIGN(const std::vector<DeviceWork> works,
                     readDeviceWorks(asking_.trace, asking_.scenario.job()));
    const bool isOnDevices = std::any_of(works.begin(), works.end(), [](const DeviceWork& each) {
      return !each.name.empty() && !each.isCollective;
    });
    if (isOnDevices)
      SONDE_TRY(divideKernels(works));
    else
      SONDE_TRY(divideThreads());
    SONDE_TRY(growCommunicators());
    addNotes(isOnDevices);
    LongRun(asking_.scenario, works).noteAfterwards(asking_);
    return {};
  }

 private:
  Result<void> findLink() {
    if (of_.bytesPerNs) {
      link_ = {of_.latencyNs.value_or(kLatencyNs), 1 / *of_.bytesPerNs};
      return {};
    }
    const Networks networks(asking_.scenario, collectives_, asking_.models.collectives);
    if (networks.empty())
      return notFound(
          "the trace has no collectives of all their ranks, so the network's speed is unknown: "
          "give inside=…, such as inside=100Gbit/s");
    const NetworkModel& model = networks.all().begin()->second;
    link_ = {of_.latencyNs.value_or(model.stepNs), model.byteNs, model.error};
    return {};
  }

  Result<void> readParents() {
    return store::forEach<OperatorParent>(asking_.trace, kOperatorParents, [&](const auto& row) {
      parents_.emplace(row.id, row.parentId);
    });
  }

  // The innermost operator around a slice, or itself, that works on images. nullptr: none, or they
  // have fewer rows than parts.
  const ImageOperator* imagesAround(std::int64_t slice) const {
    for (auto at = parents_.find(slice); at != parents_.end(); at = parents_.find(at->second))
      if (const auto image = images_.bySlice.find(at->first); image != images_.bySlice.end())
        return image->second.rows >= of_.parts ? &image->second : nullptr;
    return nullptr;
  }

  // Exchange before a convolution; 0: it is none, or its kernel has one row.
  double haloNs(const ImageOperator& image) {
    if (!image.isConvolution)
      return 0;
    if (image.kernelRows == 0)
      ++assumed_;
    const std::int64_t rows = (image.kernelRows > 0 ? image.kernelRows : of_.kernel) / 2;
    if (rows == 0)
      return 0;
    const double neighbours = of_.parts == 2 ? 1 : 2;
    const double bytes = static_cast<double>(rows) * image.rowBytes;
    const double ns = neighbours * (link_.latencyNs + link_.byteNs * bytes);
    ++exchanges_;
    exchangedNs_ += ns;
    return ns;
  }

  Result<void> divideKernels(const std::vector<DeviceWork>& works) {
    std::unordered_map<std::int64_t, std::int64_t> scopes;
    SONDE_TRY(store::forEach<OperatorKernel>(asking_.trace, kKernelScopes, [&](const auto& row) {
      scopes.emplace(row.id, row.scopeId);
    }));
    Scenario& scenario = asking_.scenario;
    std::unordered_set<std::int64_t> exchanged;
    for (const DeviceWork& each : works) {
      const auto scope = scopes.find(scenario.graph().row[each.node]);
      if (each.name.empty() || each.isCollective || scope == scopes.end())
        continue;
      const ImageOperator* image = imagesAround(scope->second);
      if (image == nullptr)
        continue;
      ++divided_;
      scenario.scale(each.node,
                     scenario.graph().beginNs[each.node],
                     scenario.graph().endNs(each.node),
                     1 / static_cast<double>(of_.parts),
                     Origin::Modelled);
      if (exchanged.insert(image->slice).second)
        if (const double ns = haloNs(*image); ns > 0)
          scenario.extend(each.node, std::llround(ns), Origin::Modelled);
    }
    return {};
  }

  // Operators inside of others on images belong to these.
  Result<void> divideThreads() {
    Scenario& scenario = asking_.scenario;
    SONDE_TRY_ASSIGN(const JobLanes lanes, JobLanes::read(asking_.trace, scenario.graph()));
    const LaneLookup lookup(scenario.graph());
    for (const auto& [slice, image] : images_.bySlice) {
      const auto at = lanes.ofThread(image);
      if (!at || image.rows < of_.parts || isWithinImages(image))
        continue;
      ++divided_;
      const double halo = haloNs(image);
      const auto length = static_cast<double>(at->span.endNs - at->span.beginNs);
      scaleSpan(scenario,
                lookup,
                at->lane,
                at->span,
                1 / static_cast<double>(of_.parts) + halo / std::max(length, 1.0),
                Origin::Modelled);
    }
    return {};
  }

  bool isWithinImages(const ImageOperator& image) const {
    for (auto at = parents_.find(image.parentId); at != parents_.end();
         at = parents_.find(at->second))
      if (images_.bySlice.contains(at->first))
        return true;
    return false;
  }

  Result<void> growCommunicators() {
    if (collectives_.empty()) {
      asking_.notes.emplace_back(
          "the trace has no collectives of several ranks, so the reduction of gradients among the "
          "ranks that share images is not counted");
      return {};
    }
    const Networks networks(asking_.scenario, collectives_, asking_.models.collectives);
    SONDE_TRY(retime(
        asking_.scenario, collectives_, [&](const MovedBytes& each) -> std::optional<double> {
          const NetworkModel* model = networks.find(each.communicator, each.op);
          if (model == nullptr)
            return std::nullopt;
          const double now = model->ns(costOf(each.op, each.bytes, each.ranks));
          const double then = model->ns(costOf(each.op, each.bytes, each.ranks * of_.parts));
          if (each.presentNs)
            return now > 0 ? *each.presentNs * then / now : *each.presentNs;
          return then * each.callFactor;
        }));
    return {};
  }

  void addNotes(bool isOnDevices) {
    asking_.modelError = std::max({asking_.modelError, kPart, link_.error});
    asking_.notes.push_back(fmt::format(
        "{} ranks share each image: {} {} on images take 1/{} of their time; operators without "
        "recorded sizes, or on fewer rows, keep theirs",
        of_.parts,
        divided_,
        isOnDevices ? "kernels" : "operators",
        of_.parts));
    asking_.notes.push_back(
        fmt::format("{} exchanges of rows before convolutions take {:.3g} us on average, at {:.3g} "
                    "us and {:.3g} "
                    "ns for a byte to each neighbour, and overlap with nothing",
                    exchanges_,
                    exchanges_ > 0 ? exchangedNs_ / static_cast<double>(exchanges_) / 1e3 : 0,
                    link_.latencyNs / 1e3,
                    link_.byteNs));
    if (assumed_ > 0)
      asking_.notes.push_back(fmt::format(
          "{} convolutions have no recorded weights: their kernels count as {} rows high",
          assumed_,
          of_.kernel));
  }

  Asking& asking_;
  const Spatial& of_;
  ImageOperators images_;
  std::vector<JobCollective> collectives_;
  std::unordered_map<std::int64_t, std::int64_t> parents_;  // of operators
  HaloLink link_;
  std::int64_t divided_ = 0;
  std::int64_t exchanges_ = 0;
  std::int64_t assumed_ = 0;
  double exchangedNs_ = 0;
};

}  // namespace

Question spatial(Spatial of) {
  return [of](Asking& asking) -> Result<void> {
    if (of.parts < 2)
      return Error{ErrorCode::InvalidArgument, "two ranks or more can share an image"};
    if (of.kernel < 1 || (of.bytesPerNs && !(*of.bytesPerNs > 0)) ||
        (of.latencyNs && !(*of.latencyNs >= 0)))
      return Error{ErrorCode::InvalidArgument,
                   "the kernel's rows and the bandwidth are above 0, and a latency is not below 0"};
    return Dividing(asking, of).run();
  };
}

}  // namespace sonde::engine::whatif
