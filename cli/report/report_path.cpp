#include "cli/report/report_path.h"

#include "cli/text/json_value.h"
#include "cli/text/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

using engine::report::PathCauseShare;
using engine::report::PathReport;
using engine::stragglers::Straggler;

constexpr std::size_t kMostCauses = 3;
constexpr double kLeastShare = 0.01;
constexpr int kNameWidth = 30;

// "wake-up 12 %", "host 61 % (aten::mm)".
std::string causeText(const PathCauseShare& each) {
  const std::string name =
      each.what.empty() ? "" : fmt::format(" ({})", cutTo(each.what, kNameWidth));
  return fmt::format("{} {:.0f} %{}",
                     each.cause == engine::critical::PathCause::WakeUp
                         ? "wake-up"
                         : engine::critical::nameOf(each.cause),
                     100 * each.share,
                     name);
}

std::string stragglerText(const Straggler& straggler) {
  const std::string work = straggler.operation.empty() ? engine::critical::nameOf(straggler.cause)
                                                       : cutTo(straggler.operation, kNameWidth);
  return fmt::format("; rank {} is slow ({}): {:.0f} % of an iteration",
                     straggler.rank,
                     work,
                     100 * straggler.share);
}

}  // namespace

Lines pathLines(const PathReport& path) {
  Lines lines;
  if (path.isTooLarge)
    appendLabelled(lines,
                   "Path",
                   fmt::format("not looked for above {} events: sonde graph --critical-path",
                               humanCount(engine::report::kMostPathEvents)));
  if (path.iterations == 0)
    return lines;
  std::vector<std::string> causes;
  for (const PathCauseShare& each : path.causes)
    if (causes.size() < kMostCauses && each.share >= kLeastShare)
      causes.push_back(causeText(each));
  appendLabelled(lines,
                 "Path",
                 fmt::format("critical path: {}{}",
                             fmt::join(causes, ", "),
                             path.straggler ? stragglerText(*path.straggler) : ""));
  for (const engine::report::PathDoubt& each : path.doubts)
    appendLabelled(lines, "", fmt::format("{}: {}", humanCount(each.violations), each.text));
  return lines;
}

nlohmann::json pathJson(const PathReport& path) {
  nlohmann::json causes = nlohmann::json::array();
  for (const PathCauseShare& each : path.causes)
    causes.push_back({{"cause", engine::critical::nameOf(each.cause)},
                      {"what", each.what},
                      {"ns", each.ns},
                      {"share", each.share}});
  nlohmann::json straggler;
  if (path.straggler)
    straggler = {{"rank", path.straggler->rank},
                 {"operation", path.straggler->operation},
                 {"cause", engine::critical::nameOf(path.straggler->cause)},
                 {"ns", path.straggler->ns},
                 {"share", path.straggler->share},
                 {"confidence", path.straggler->confidence}};
  nlohmann::json checks = nlohmann::json::array();
  for (const engine::report::PathDoubt& each : path.doubts)
    checks.push_back({{"check", each.check}, {"violations", each.violations}, {"text", each.text}});
  return {{"iterations", path.iterations},
          {"ns", path.ns},
          {"causes", std::move(causes)},
          {"straggler", std::move(straggler)},
          {"straggler_reason", textOrNull(path.whyNoStraggler)},
          {"checks", std::move(checks)},
          {"reason", textOrNull(path.reason)}};
}

}  // namespace sonde::cli
