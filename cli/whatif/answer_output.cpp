#include "cli/whatif/answer_output.h"

#include "cli/text/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace critical = engine::critical;
using engine::whatif::Answer;
using engine::whatif::ChangedShare;
using engine::whatif::Origin;

constexpr std::size_t kShownLines = 8;
constexpr int kWidth = 120;

std::int64_t wholeNs(double ns) {
  return std::llround(ns);
}

double shareOf(const Answer& answer, Origin origin) {
  return answer.originShares[static_cast<std::size_t>(origin)];
}

std::string human(double ns) {
  return humanDuration(wholeNs(ns));
}

std::string pathText(const char* title, const std::vector<ChangedShare>& shares) {
  Table table = pathTable(shares);
  std::string text = fmt::format("\n{}\n", title);
  const std::size_t all = table.rows.size();
  table.rows.resize(std::min(all, kShownLines));
  text += renderText(table, 2, kWidth);
  if (all > kShownLines)
    text += fmt::format("  … and {} more (--format json has all)\n", all - kShownLines);
  return text;
}

}  // namespace

Table pathTable(const std::vector<ChangedShare>& shares) {
  Table table{{textColumn("entity", "place"),
               textColumn("cause", "cause"),
               textColumn("what", "what"),
               durationColumn("ns", "an iteration"),
               shareColumn("share", "share")},
              {}};
  for (const ChangedShare& each : shares)
    table.rows.push_back(
        {each.entity, critical::nameOf(each.cause), each.what, wholeNs(each.ns), each.share});
  return table;
}

nlohmann::json jsonOf(const Answer& answer) {
  return {{"schema", 1},
          {"iterations", answer.iterations},
          {"baseline_ns", wholeNs(answer.baselineNs)},
          {"predicted_ns", wholeNs(answer.predictedNs)},
          {"low_ns", wholeNs(answer.lowNs)},
          {"high_ns", wholeNs(answer.highNs)},
          {"speedup", answer.speedup()},
          {"provenance",
           {{"measured", shareOf(answer, Origin::Measured)},
            {"scaled", shareOf(answer, Origin::Scaled)},
            {"modelled", shareOf(answer, Origin::Modelled)}}},
          {"identity_error", answer.identityError},
          {"critical_path_before", rowsAsObjects(pathTable(answer.before))},
          {"critical_path_after", rowsAsObjects(pathTable(answer.after))},
          {"notes", answer.notes}};
}

std::string textOf(const Answer& answer) {
  std::string text =
      fmt::format("{}: {} now, {} predicted (between {} and {}): {:.2f} times as fast\n",
                  answer.iterations == 0 ? "the whole trace"
                                         : fmt::format("mean of {} iterations", answer.iterations),
                  human(answer.baselineNs),
                  human(answer.predictedNs),
                  human(answer.lowNs),
                  human(answer.highNs),
                  answer.speedup());
  text += fmt::format(
      "of the predicted time {} was measured, {} scaled, {} modelled; a replay without a change is "
      "{:.2f} % off\n",
      humanFraction(shareOf(answer, Origin::Measured)),
      humanFraction(shareOf(answer, Origin::Scaled)),
      humanFraction(shareOf(answer, Origin::Modelled)),
      100 * std::abs(answer.identityError));
  for (const std::string& note : answer.notes)
    text += "note: " + note + "\n";
  text += pathText("the critical path now", answer.before);
  text += pathText("the critical path then", answer.after);
  return text;
}

}  // namespace sonde::cli
