#include "cli/diff/diff_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace diff = engine::diff;
using diff::Verdict;
using nlohmann::json;

bool isTested(const diff::Row& row) {
  return row.verdict != Verdict::Added && row.verdict != Verdict::Removed;
}

bool isQuiet(const diff::Row& row) {
  return row.subject.kind != diff::Kind::Iteration &&
         (row.verdict == Verdict::Same || row.verdict == Verdict::TooFew);
}

// Unset for a side that does not have the row.
std::optional<std::int64_t> nsOf(const diff::Row& row, bool ofA) {
  if (row.verdict == (ofA ? Verdict::Added : Verdict::Removed))
    return std::nullopt;
  return std::llround((ofA ? row.shown.a : row.shown.b).ns);
}

std::optional<double> ifTested(const diff::Row& row, std::optional<double> value) {
  return isTested(row) ? value : std::nullopt;
}

// ---- for a person

// Names of kernels are shortened first.
constexpr int kWidth = 150;

std::string signedPercent(double fraction) {
  const double percent = fraction * 100;
  return fmt::format("{:+.{}f} %", percent, std::abs(percent) < 9.95 ? 2 : 1);
}

// Formats a positive share: two digits, or all digits before the point.
std::string roughPercent(double fraction) {
  const double percent = fraction * 100;
  return percent < 10 ? fmt::format("{:.2g} %", percent) : fmt::format("{:.0f} %", percent);
}

std::string intervalText(const diff::Row& row) {
  const auto& [low, high] = std::pair(row.shown.low, row.shown.high);
  if (!isTested(row) || !low)
    return "-";
  return fmt::format("{} … {}", signedPercent(*low), high ? signedPercent(*high) : "any");
}

std::string probabilityText(const diff::Row& row) {
  if (!isTested(row))
    return "-";
  return row.p < 0.0005 ? "<0.001" : fmt::format("{:.3f}", row.p);
}

std::string nameText(const diff::Row& row) {
  if (row.subject.name)
    return *row.subject.name;
  return row.subject.kind == diff::Kind::Iteration ? "iteration" : "(outside of all)";
}

bool hasRanks(const diff::Diff& result) {
  return std::any_of(result.rows.begin(), result.rows.end(), [](const diff::Row& row) {
    return row.subject.rank.has_value();
  });
}

Cell optionalCell(const std::optional<std::int64_t>& value) {
  return value ? Cell(*value) : Cell();
}

std::vector<Cell> textCells(const diff::Row& row, bool ranks) {
  std::vector<Cell> cells;
  if (ranks)
    cells.push_back(optionalCell(row.subject.rank));
  cells.emplace_back(std::string(diff::word(row.subject.kind)));
  cells.emplace_back(nameText(row));
  cells.emplace_back(std::string(diff::word(row.shown.measure)));
  cells.push_back(optionalCell(nsOf(row, true)));
  cells.push_back(optionalCell(nsOf(row, false)));
  const auto change = ifTested(row, row.shown.change);
  cells.emplace_back(change ? signedPercent(*change) : "-");
  cells.emplace_back(intervalText(row));
  cells.emplace_back(probabilityText(row));
  cells.emplace_back(row.detectable && row.verdict == Verdict::Same ? roughPercent(*row.detectable)
                                                                    : "-");
  cells.emplace_back(std::string(diff::word(row.verdict)));
  return cells;
}

// Adds the rows that differ, then the longest of the others; returns the number of rows not shown.
std::size_t fill(const diff::Diff& result, std::size_t most, Table& table) {
  const bool ranks = hasRanks(result);
  std::size_t quiet = 0;
  for (const diff::Row& row : result.rows) {
    if (isQuiet(row) && ++quiet > most)
      continue;
    table.rows.push_back(textCells(row, ranks));
  }
  return quiet > most ? quiet - most : 0;
}

std::string sideText(const char* name, const diff::SideFacts& facts) {
  const std::string ranks =
      facts.mostRanks == 1 ? ""
      : facts.leastRanks == facts.mostRanks
          ? fmt::format(" of {} ranks", facts.mostRanks)
          : fmt::format(" of {} to {} ranks", facts.leastRanks, facts.mostRanks);
  std::string text = fmt::format("{}: {} {}{}, {} {}",
                                 name,
                                 facts.runs,
                                 facts.runs == 1 ? "run" : "runs",
                                 ranks,
                                 humanCount(static_cast<std::int64_t>(facts.iterations)),
                                 facts.iterations == 1 ? "iteration" : "iterations");
  if (facts.warmUp > 0)
    text +=
        fmt::format(", without the first {}", humanCount(static_cast<std::int64_t>(facts.warmUp)));
  if (facts.corrected > 0)
    text += fmt::format("; the subtracted cost of recording is {:.1f} % of one (± {:.1f} %)",
                        facts.recordingShare * 100,
                        1.96 * facts.recordingError * 100);
  return text + "\n";
}

std::string rangeText(const NumberRange& range) {
  if (range.first == range.second)
    return fmt::format("Only iteration {} of each run is compared.\n", range.first);
  return fmt::format(
      "Only iterations {} to {} of each run are compared.\n", range.first, range.second);
}

const diff::Row& iterationOf(const diff::Diff& result) {
  return result.rows.front();
}

std::string shownChange(const diff::Row& row) {
  const diff::Estimate& found = row.shown;
  if (!found.change)
    return "";
  return fmt::format(" {} ({})", signedPercent(*found.change), intervalText(row));
}

// The difference, if the iteration as a whole is neither slower nor faster.
std::string differentText(const diff::Diff& result) {
  const bool isSlower = std::any_of(result.rows.begin(), result.rows.end(), [](const auto& row) {
    return row.subject.kind == diff::Kind::Iteration && row.verdict == Verdict::Slower;
  });
  return isSlower ? "Iterations of some ranks are slower in B, those of others faster.\n"
                  : "Parts of an iteration differ, but the whole iteration does not differ "
                    "significantly.\n";
}

std::string verdictText(const diff::Diff& result, const diff::Judgement& judgement) {
  const diff::Row& iteration = iterationOf(result);
  switch (result.verdict) {
    case Verdict::Slower:
    case Verdict::Faster:
      return fmt::format("B is {}: an iteration{}.\n",
                         diff::word(result.verdict),
                         hasRanks(result) ? " of some ranks" : shownChange(iteration));
    case Verdict::Different:
      return differentText(result);
    case Verdict::TooFew:
      return "There are too few iterations to find a difference.\n";
    default:
      break;
  }
  if (iteration.excludesZero())
    return fmt::format(
        "No difference can be shown: the interval of an iteration ({}) excludes 0, but {}. Record "
        "more iterations and runs.\n",
        intervalText(iteration),
        diff::doubtText(iteration, judgement));
  if (!iteration.detectable)
    return "No difference can be shown.\n";
  return fmt::format(
      "No difference can be shown. A slowdown of an iteration by {} would most likely have been "
      "found.\n",
      roughPercent(*iteration.detectable));
}

Table emptyTextTable(bool ranks) {
  Table table;
  if (ranks)
    table.columns.push_back({"rank", "rank", ColumnKind::Number});
  for (const char* const title : {"kind", "what", "iterations"})
    table.columns.push_back({title, title});
  for (const char* const title : {"A", "B"})
    table.columns.push_back({title, title, ColumnKind::DurationNs});
  for (const char* const title : {"change", "95 % interval", "p", "found from"})
    table.columns.push_back({title, title, ColumnKind::Real});
  table.columns.push_back({"verdict", "verdict"});
  return table;
}

// ---- for programs

json orNull(const std::optional<double>& value) {
  return value ? json(*value) : json(nullptr);
}

json operationJson(const diff::Row& row) {
  if (row.subject.kind == diff::Kind::Iteration)
    return "iteration";
  return row.subject.name ? json(*row.subject.name) : json(nullptr);
}

json rowJson(const diff::Row& row) {
  const diff::Estimate& found = row.shown;
  const auto ns = [&row](bool ofA) {
    const auto value = nsOf(row, ofA);
    return value ? json(*value) : json(nullptr);
  };
  const auto raw = [&row](bool ofA) {
    return nsOf(row, ofA) ? json(std::llround((ofA ? row.shown.a : row.shown.b).rawNs))
                          : json(nullptr);
  };
  const auto tested = [&row](std::optional<double> value) { return orNull(ifTested(row, value)); };
  return {{"operation", operationJson(row)},
          {"kind", diff::word(row.subject.kind)},
          {"rank", row.subject.rank ? json(*row.subject.rank) : json(nullptr)},
          {"a_ns", ns(true)},
          {"b_ns", ns(false)},
          {"a_raw_ns", raw(true)},
          {"b_raw_ns", raw(false)},
          {"change", tested(found.change)},
          {"low", tested(found.low)},
          {"high", tested(found.high)},
          {"p", tested(row.p)},
          {"p_runs", tested(found.p)},
          {"p_ranks", tested(row.pRanks)},
          {"detectable", tested(row.detectable)},
          {"a_runs", found.a.runs},
          {"b_runs", found.b.runs},
          {"a_disturbed", found.a.disturbed},
          {"b_disturbed", found.b.disturbed},
          {"measure", diff::word(found.measure)},
          {"verdict", diff::word(row.verdict)}};
}

json sideJson(const diff::SideFacts& facts, const std::vector<diff::RunFiles>& runs) {
  return {{"runs", runs},
          {"ranks", facts.mostRanks},
          {"iterations", facts.iterations},
          {"warm_up", facts.warmUp},
          {"partial", facts.partial},
          {"corrected_runs", facts.corrected},
          {"recording_share", facts.recordingShare},
          {"recording_error", facts.recordingError}};
}

std::string disturbedNote(const diff::Diff& result) {
  std::size_t rows = 0;
  for (const diff::Row& row : result.rows)
    rows += row.shown.a.disturbed + row.shown.b.disturbed > 0 ? 1 : 0;
  if (rows == 0)
    return "";
  return fmt::format(
      "In {} {}, runs far from the others of their side are ignored: something else disturbed "
      "them.",
      rows,
      rows == 1 ? "row" : "rows");
}

std::string doubtfulNote(const diff::Diff& result) {
  const auto rows = std::count_if(
      result.rows.begin(), result.rows.end(), [](const auto& row) { return row.excludesZero(); });
  if (rows == 0)
    return "";
  return fmt::format(
      "In {} {}, the interval excludes 0 although no difference can be shown. An interval is that "
      "of its row alone. A difference also needs the ranks of the iterations, and a p that is "
      "corrected for all rows. More iterations and runs can decide it.",
      rows,
      rows == 1 ? "row" : "rows");
}

}  // namespace

std::vector<std::string> notesOf(const DiffDocument& document) {
  const diff::Diff& result = document.diff;
  std::vector<std::string> notes;
  if (result.a.runs == 1 && result.b.runs == 1)
    notes.push_back(fmt::format(
        "With one run a side, the difference of identical runs is unknown. It is assumed to be {} "
        "(--run-noise), or the variation within each run. Give several runs a side.",
        roughPercent(document.judgement.runNoise)));
  else if (result.a.runs == 1 || result.b.runs == 1)
    notes.push_back(fmt::format("{} is one run. Its variation is assumed to be that of {}.",
                                result.a.runs == 1 ? "A" : "B",
                                result.a.runs == 1 ? "B" : "A"));
  if (result.a.leastRanks != result.b.leastRanks || result.a.mostRanks != result.b.mostRanks)
    notes.emplace_back(
        "The sides have different numbers of ranks. Times are means over the ranks.");
  if (result.a.corrected + result.b.corrected > 0 &&
      result.a.corrected + result.b.corrected < result.a.runs + result.b.runs)
    notes.push_back(
        fmt::format("The cost of recording is subtracted from {} of {} runs of A and {} of {} of "
                    "B. It is unknown for the others.",
                    result.a.corrected,
                    result.a.runs,
                    result.b.corrected,
                    result.b.runs));
  if (const std::string disturbed = disturbedNote(result); !disturbed.empty())
    notes.push_back(disturbed);
  if (const std::string doubtful = doubtfulNote(result); !doubtful.empty())
    notes.push_back(doubtful);
  if (result.a.partial + result.b.partial > 0)
    notes.push_back(
        fmt::format("{} iterations are ignored: fewer probes recorded in them, or the recorder "
                    "stored records meanwhile.",
                    humanCount(static_cast<std::int64_t>(result.a.partial + result.b.partial))));
  return notes;
}

std::string diffText(const DiffDocument& document, std::size_t most) {
  const diff::Diff& result = document.diff;
  std::string text = sideText("A", result.a) + sideText("B", result.b);
  if (document.iterations)
    text += rangeText(*document.iterations);
  text += "\n" + verdictText(result, document.judgement) + "\n";
  Table table = emptyTextTable(hasRanks(result));
  const std::size_t hidden = fill(result, most, table);
  text += renderText(table, 0, kWidth);
  if (hidden > 0)
    text += fmt::format("… and {} more rows in which no difference can be shown (--all).\n",
                        humanCount(static_cast<std::int64_t>(hidden)));
  text += fmt::format(
      "\np is corrected for {} {}: the probability of at least one false difference is at most "
      "{}.\n",
      humanCount(static_cast<std::int64_t>(result.tests)),
      result.tests == 1 ? "test" : "tests",
      roughPercent(document.judgement.level));
  for (const std::string& note : notesOf(document))
    text += note + "\n";
  return text;
}

std::string diffJson(const DiffDocument& document) {
  const diff::Diff& result = document.diff;
  json object = {{"schema", 1},
                 {"by", document.by},
                 {"verdict", diff::word(result.verdict)},
                 {"level", document.judgement.level},
                 {"tests", result.tests},
                 {"a", sideJson(result.a, document.runsOfA)},
                 {"b", sideJson(result.b, document.runsOfB)},
                 {"notes", notesOf(document)},
                 {"rows", json::array()}};
  if (document.iterations)
    object["iterations"] = {{"first", document.iterations->first},
                            {"last", document.iterations->second}};
  for (const diff::Row& row : result.rows)
    object["rows"].push_back(rowJson(row));
  return dumpJson(object);
}

std::string diffCsv(const DiffDocument& document) {
  Table table;
  for (const char* const key :
       {"operation",   "kind",        "rank",    "a_ns",    "b_ns",       "change",  "low",
        "high",        "p",           "p_runs",  "p_ranks", "detectable", "a_runs",  "b_runs",
        "a_disturbed", "b_disturbed", "measure", "verdict", "a_raw_ns",   "b_raw_ns"})
    table.columns.push_back({key, key});
  for (const diff::Row& row : document.diff.rows) {
    const json object = rowJson(row);
    std::vector<Cell> cells;
    for (const Column& column : table.columns) {
      const json& value = object.at(column.key);
      if (value.is_number_integer())
        cells.emplace_back(value.get<std::int64_t>());
      else if (value.is_number())
        cells.emplace_back(value.get<double>());
      else
        cells.push_back(value.is_null() ? Cell() : Cell(value.get<std::string>()));
    }
    table.rows.push_back(std::move(cells));
  }
  return renderCsv(table);
}

}  // namespace sonde::cli
