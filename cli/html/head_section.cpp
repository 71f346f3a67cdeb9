// The head of the page: which job, on which machines, and what its recording misses; at the end,
// the recording itself.
#include "cli/html/html_sections.h"
#include "cli/html/html_table.h"
#include "cli/report/report_lines.h"
#include "cli/report/report_standstill.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace sonde::cli {
namespace {

using engine::metrics::RunFacts;

std::string dateOf(std::int64_t ns) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                     fmt::gmtime(static_cast<std::time_t>(ns / 1'000'000'000)));
}

std::string costText(const engine::report::RecordingCost& cost) {
  const auto share = cost.share();
  if (!cost.known || !share)
    return "unknown: times are as recorded";
  return fmt::format("{:.1f} % of {}; times are without it",
                     100 * *share,
                     cost.ofIterations ? "the iterations" : "the run");
}

std::int64_t lostRecords(const RunFacts& facts) {
  std::int64_t lost = 0;
  for (const engine::metrics::LostRecords& each : facts.lost)
    lost += each.reason == "names" ? 0 : each.count;
  return lost;
}

// Whatever makes the page incomplete.
void addMissing(Page& page, const HtmlValues& values) {
  const RunFacts& facts = values.report.facts;
  std::vector<std::string> lines;
  if (!facts.finished)
    lines.emplace_back("The recording was not completed.");
  if (!facts.replayed.empty())
    lines.push_back(fmt::format("The times are those of a replay ({}).", facts.replayed));
  if (const std::int64_t lost = lostRecords(facts); lost > 0)
    lines.push_back(fmt::format("{} were lost.", counted(lost, "record", "records")));
  for (const engine::metrics::Warning& each : facts.warnings)
    lines.push_back(each.atNs ? fmt::format("+{}: {}", humanDuration(*each.atNs), each.text)
                              : each.text);
  for (const engine::report::PathDoubt& each : values.report.path.doubts)
    lines.push_back(each.text);
  for (const std::string& line : standstillLines(values.report.standstill, facts.originNs, false))
    lines.push_back(line);
  if (lines.empty())
    return;
  page.begin("div", {{"class", "missing"}});
  for (const std::string& line : lines)
    page.element("p", line);
  page.end();
}

}  // namespace

void addHead(Page& page, const HtmlValues& values) {
  const RunFacts& facts = values.report.facts;
  page.begin("header");
  page.element("h1", facts.command.empty() ? "(command unknown)" : facts.command);
  page.element("p",
               fmt::format("{} · {}", dateOf(facts.originNs), humanDuration(facts.wallNs)),
               {{"class", "soft"}});
  PageFacts shown = {{"Job", facts.job},
                     {"Ranks", facts.ranks > 0 ? humanCount(facts.ranks) : ""},
                     {"Processes", humanCount(facts.processes)},
                     {"Hosts", humanCount(facts.hosts)},
                     {"Hardware", values.hardware},
                     {"Events", humanCount(facts.events)},
                     {"Cost of recording", costText(values.report.recordingCost)}};
  for (const engine::metrics::Metadata& each : facts.metadata)
    shown.emplace_back(each.rank ? fmt::format("{} (rank {})", each.key, *each.rank) : each.key,
                       each.value);
  if (shown.size() > 2 * kHtmlRows)
    shown.resize(2 * kHtmlRows);
  addFacts(page, shown);
  addMissing(page, values);
  page.end();
}

bool addRecording(Page& page, const HtmlValues& values) {
  const RunFacts& facts = values.report.facts;
  beginSection(page, "recording", "Recording");
  addFacts(
      page,
      {{"Lost",
        lostRecords(facts) == 0 ? "nothing" : counted(lostRecords(facts), "record", "records")},
       {"Recorder's processor time",
        facts.recorderCpuSeconds ? fmt::format("{:.2f} s", *facts.recorderCpuSeconds) : ""},
       {"Recorder's memory", facts.recorderRssBytes ? humanBytes(*facts.recorderRssBytes) : ""},
       {"Rows of events", humanCount(facts.events)}});
  Table table{{textColumn("probe", "probe"),
               textColumn("kind", "lost"),
               textColumn("reason", "reason"),
               countColumn("count", "count")},
              {}};
  for (const engine::metrics::LostRecords& each : facts.lost)
    table.rows.push_back({each.probe, each.kind, each.reason, each.count});
  addTable(page, table, kHtmlRows);
  page.end();
  return true;
}

}  // namespace sonde::cli
