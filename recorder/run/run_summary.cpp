#include "recorder/run/run_summary.h"

#include "analysis/store/trace_name.h"
#include "base/shell_quote.h"
#include "base/whole_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include <nlohmann/json.hpp>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

std::string sized(std::uint64_t bytes) {
  constexpr double kMebi = 1024.0 * 1024.0;
  const double mebi = static_cast<double>(bytes) / kMebi;
  return mebi < 10 ? fmt::format("{:.1f} MiB", mebi) : fmt::format("{:.0f} MiB", mebi);
}

Result<void> named(const std::string& file, const Result<void>& done) {
  if (done)
    return {};
  return Error{ErrorCode::Io,
               fmt::format("cannot write the summary {} ({}): give another place with --summary",
                           file,
                           done.error().message)};
}

Result<void> writeJson(const std::string& file, const nlohmann::json& json) {
  const std::string text = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  return named(file, writeWhole(file, text + '\n'));
}

// The shortest form that the user could type in the current folder.
std::string shortPath(const fs::path& path) {
  std::error_code failure;
  const fs::path here = fs::current_path(failure);
  const fs::path relative = failure ? path : path.lexically_relative(here);
  const bool shorter = !relative.empty() && !relative.string().starts_with("..");
  return (shorter ? relative : path).string();
}

// A shell pattern for the traces in its folder.
std::string besides(const fs::path& path) {
  const fs::path folder = path.parent_path();
  return folder.empty() ? "*.sonde" : shellQuoted((folder / "").string()) + "*.sonde";
}

std::vector<std::string> warningLines(const std::vector<std::string>& warnings) {
  constexpr std::size_t kMost = 8;
  if (warnings.size() <= kMost)
    return warnings;
  std::vector<std::string> lines(warnings.begin(), warnings.begin() + kMost);
  lines.push_back(
      fmt::format("{} more such lines are in the trace's table note", warnings.size() - kMost));
  return lines;
}

std::vector<std::string> droppedLines(const std::map<std::string, std::uint64_t>& dropped) {
  std::string reasons;
  std::uint64_t total = 0;
  std::uint64_t names = 0;
  for (const auto& [reason, count] : dropped) {
    if (count == 0)
      continue;
    if (reason == "names") {
      names = count;
      continue;
    }
    total += count;
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", reason, count);
  }
  std::vector<std::string> lines;
  if (total > 0)
    lines.push_back(fmt::format("{} dropped: {}",
                                total == 1 ? "1 record was" : fmt::format("{} records were", total),
                                reasons));
  if (names > 0)
    lines.push_back(fmt::format("{} lost and replaced by (name lost)",
                                names == 1 ? "1 name was" : fmt::format("{} names were", names)));
  return lines;
}

}  // namespace

std::vector<std::string> summaryLines(const RecordingSummary& summary,
                                      std::optional<int> worldSize) {
  std::vector<std::string> lines = warningLines(summary.totals.warnings);
  for (std::string& line : droppedLines(summary.totals.dropped))
    lines.push_back(std::move(line));
  if (summary.calibration)
    lines.push_back(calibrationLine(*summary.calibration));
  std::error_code failure;
  const auto fileBytes = fs::file_size(summary.output, failure);
  lines.push_back(
      fmt::format("{:.1f} s {}recorded; the recorder took {:.2f} s of CPU and {} of memory, "
                  "read {} and wrote {}",
                  summary.seconds,
                  summary.unrecordedSeconds > 0
                      ? fmt::format("run, except the last {:.1f} s, ", summary.unrecordedSeconds)
                      : "",
                  static_cast<double>(summary.recorderCpuNs) / 1e9,
                  sized(summary.recorderBytes),
                  sized(summary.totals.bytes),
                  sized(failure ? 0 : fileBytes)));
  const std::string path = shortPath(summary.output);
  const bool oneOfMany = worldSize.value_or(1) > 1;
  lines.push_back(
      oneOfMany ? fmt::format("wrote {}: next, when all ranks have: sonde merge -o job.sonde {}",
                              path,
                              besides(path))
                : fmt::format("wrote {}: next: sonde report {}", path, shellQuoted(path)));
  return lines;
}

Result<void> checkSummaryFile(const std::string& file) {
  return named(file, checkWritable(file));
}

Result<void> checkSummaryIsApart(const std::string& file, const fs::path& output) {
  for (const fs::path& trace : {output, store::partOf(output)}) {
    for (const fs::path& own : store::filesOf(trace)) {
      if (leadsTo(file, own))
        return Error{
            ErrorCode::InvalidArgument,
            fmt::format("the summary {} is the trace's own file {}: give another name with "
                        "--summary",
                        file,
                        own.string())};
    }
  }
  return {};
}

Result<void> writeSummary(const std::string& file,
                          const RecordingSummary& summary,
                          int exitStatus) {
  using nlohmann::json;
  return writeJson(
      file,
      {{"schema", 1},
       {"events", summary.totals.events},
       {"dropped", summary.totals.dropped},
       {"seconds", summary.seconds},
       {"path", summary.output.string()},
       {"recorder",
        {{"cpu_s", static_cast<double>(summary.recorderCpuNs) / 1e9},
         {"bytes", summary.totals.bytes},
         {"rss_bytes", summary.recorderBytes}}},
       {"calibration", summary.calibration ? calibrationJson(*summary.calibration) : json(nullptr)},
       {"exit_status", exitStatus},
       {"notes", summary.totals.warnings}});
}

Result<void> writeUnrecorded(const std::string& file,
                             const std::string& why,
                             double seconds,
                             int exitStatus) {
  using nlohmann::json;
  return writeJson(file,
                   {{"schema", 1},
                    {"events", json::object()},
                    {"dropped", json::object()},
                    {"seconds", seconds},
                    {"path", nullptr},
                    {"recorder", nullptr},
                    {"calibration", nullptr},
                    {"exit_status", exitStatus},
                    {"notes", json::array({why})}});
}

}  // namespace sonde::recorder
