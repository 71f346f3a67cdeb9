#include "analysis/engine/whatif/sharing/determinism.h"

#include "analysis/engine/whatif/compute/device_works.h"
#include "analysis/engine/whatif/sharing/deterministic_forms.h"
#include "analysis/engine/whatif/sharing/long_run.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::engine::whatif {
namespace {

constexpr double kGiven = 0.2;  // the relative error of a user's factor

struct OperatorOfKernel {
  std::int64_t id = 0;
  std::string text;

  SONDE_COLUMNS(id, text)
};

constexpr const char* kOperatorsOfKernels =
    "SELECT k.id, n.text FROM kernel k LEFT JOIN slice l ON l.id = k.launch_slice_id JOIN slice s "
    "ON s.id = coalesce(k.scope_id, l.scope_id) JOIN string n ON n.id = s.name_id WHERE s.kind = "
    "'operator'";

struct FormSum {
  std::int64_t kernels = 0;
  double ns = 0;
};
using FormSums = std::array<FormSum, kDeterministicForms>;

const FormSum& sumOf(const FormSums& sums, DeterministicForm form) {
  return sums[static_cast<std::size_t>(form)];
}

// How many times as long, and the relative error of that.
struct Slower {
  double factor = 1;
  double error = 0;
};

Slower slowerOf(const Determinism& of, DeterministicForm form) {
  if (form == DeterministicForm::Unknown)
    return {of.convolutions, of.convolutions > 1 ? kGiven : 0};
  const SlowDown known = slowDownOf(form);
  if (known.factor <= 1)
    return {};
  if (of.factor)
    return {*of.factor, kGiven};
  return {known.factor, (known.most / known.factor - 1) / 2};  // twice that error reaches the most
}

void addSlowerNote(const Determinism& of, const FormSums& sums, std::vector<std::string>& notes) {
  const auto noteOf = [&](DeterministicForm form, const char* what, const char* source) {
    const FormSum& sum = sumOf(sums, form);
    if (sum.kernels == 0)
      return;
    notes.push_back(fmt::format("{} kernels {} then take {:.3g} times as long, {}",
                                sum.kernels,
                                what,
                                slowerOf(of, form).factor,
                                of.factor ? "as given" : source));
  };
  noteOf(DeterministicForm::Sorted,
         "that add or write by index",
         "the mean of 1.6 to 24 times that were measured of PyTorch's backward indexing on a P100");
  noteOf(DeterministicForm::OtherAlgorithm,
         "of convolutions' backward passes with atomic additions",
         "which is assumed: whole trainings were up to 8.46 times as long");
}

void addNotes(const Determinism& of, const FormSums& sums, std::vector<std::string>& notes) {
  addSlowerNote(of, sums, notes);
  const FormSum& unknown = sumOf(sums, DeterministicForm::Unknown);
  const FormSum& missing = sumOf(sums, DeterministicForm::Missing);
  const bool isSlower = sumOf(sums, DeterministicForm::Sorted).kernels > 0 ||
                        sumOf(sums, DeterministicForm::OtherAlgorithm).kernels > 0 ||
                        (unknown.kernels > 0 && of.convolutions > 1);
  if (!isSlower) {
    std::int64_t all = 0;
    for (const FormSum& each : sums)
      all += each.kernels;
    notes.push_back(
        fmt::format("nothing in this job is known to be slower if it is deterministic: "
                    "none of its {} kernels has a slower form that PyTorch documents",
                    all));
  }
  if (unknown.kernels > 0)
    notes.push_back(fmt::format(
        "{} kernels of convolutions' backward passes, {:.3g} ms in all, do not name their "
        "algorithm: {}",
        unknown.kernels,
        unknown.ns / 1e6,
        of.convolutions > 1
            ? fmt::format("they take {:.3g} times as long, as given", of.convolutions)
            : "they keep their times; convolutions=… gives them another"));
  if (missing.kernels > 0)
    notes.push_back(fmt::format(
        "{} kernels are of operators that have no deterministic form for some types or modes: "
        "PyTorch then ends with an error, or warns if warn_only=True; they keep their times",
        missing.kernels));
}

Result<std::unordered_map<std::int64_t, std::string>> operatorNames(const store::Database& trace) {
  std::unordered_map<std::int64_t, std::string> found;
  SONDE_TRY(store::forEach<OperatorOfKernel>(
      trace, kOperatorsOfKernels, [&](const OperatorOfKernel& row) {
        found.emplace(row.id, row.text);
      }));
  return found;
}

Result<FormSums> slowKernelsDown(Asking& asking,
                                 const Determinism& of,
                                 const std::vector<DeviceWork>& works) {
  SONDE_TRY_ASSIGN(const auto operators, operatorNames(asking.trace));
  Scenario& scenario = asking.scenario;
  FormSums sums{};
  double error = 0;
  double slowed = 0;
  for (const DeviceWork& each : works) {
    if (each.name.empty() || each.isCollective)
      continue;
    const auto op = operators.find(scenario.graph().row[each.node]);
    const DeterministicForm form =
        deterministicFormOf(op == operators.end() ? "" : op->second, each.name);
    const auto now = static_cast<double>(scenario.durNs()[each.node]);
    FormSum& sum = sums[static_cast<std::size_t>(form)];
    ++sum.kernels;
    sum.ns += now;
    const Slower slower = slowerOf(of, form);
    if (slower.factor <= 1)
      continue;
    scenario.setNode(each.node, std::llround(now * slower.factor), Origin::Modelled);
    slowed += now * slower.factor;
    error += now * slower.factor * slower.error;
  }
  if (slowed > 0)
    asking.modelError = std::max(asking.modelError, error / slowed);
  return sums;
}

}  // namespace

Question determinism(Determinism of) {
  return [of](Asking& asking) -> Result<void> {
    if ((of.factor && !(*of.factor >= 1)) || !(of.convolutions >= 1))
      return Error{
          ErrorCode::InvalidArgument,
          "a deterministic form takes at least as long as the other: --scale makes work faster"};
    SONDE_TRY_ASSIGN(const std::vector<DeviceWork> works,
                     readDeviceWorks(asking.trace, asking.scenario.job()));
    SONDE_TRY_ASSIGN(const FormSums sums, slowKernelsDown(asking, of, works));
    const bool hasNone = std::all_of(
        sums.begin(), sums.end(), [](const FormSum& each) { return each.kernels == 0; });
    if (hasNone)
      return notFound(
          "the trace has no kernels of a device: PyTorch's slower deterministic forms are those on "
          "devices");
    addNotes(of, sums, asking.notes);
    LongRun(asking.scenario, works).noteAfterwards(asking);
    return {};
  };
}

}  // namespace sonde::engine::whatif
