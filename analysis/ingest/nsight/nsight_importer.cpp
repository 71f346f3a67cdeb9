#include "analysis/ingest/nsight/nsight_importer.h"

#include "analysis/ingest/nsight/nsight_calls.h"
#include "analysis/ingest/nsight/nsight_context.h"
#include "analysis/ingest/nsight/nsight_device.h"
#include "analysis/ingest/nsight/nsight_mpi.h"
#include "analysis/ingest/nsight/nsight_places.h"
#include "analysis/ingest/nsight/nsight_ranges.h"
#include "analysis/ingest/nsight/nsight_samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace sonde::ingest {
namespace {

// Important tables, and what a trace lacks without them.
constexpr std::pair<std::string_view, std::string_view> kExpected[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL", "kernels"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUDA calls"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", "copies"},
    {"NVTX_EVENTS", "NVTX ranges"},
    {"OSRT_API", "system calls"},
    {"StringIds", "names"},
    {"TARGET_INFO_SESSION_START_TIME", "time of day"},
};

// Other tables that are read, or that contain nothing a trace stores.
constexpr std::string_view kRead[] = {"COMPOSITE_EVENTS",
                                      "CUBLAS_EVENTS",
                                      "CUDNN_EVENTS",
                                      "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                      "CUPTI_ACTIVITY_KIND_MEMSET",
                                      "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                      "DIAGNOSTIC_EVENT",
                                      "MPI_COLLECTIVES_EVENTS",
                                      "MPI_OTHER_EVENTS",
                                      "MPI_P2P_EVENTS",
                                      "MPI_RANKS",
                                      "MPI_START_WAIT_EVENTS",
                                      "PROCESSES",
                                      "PROFILER_OVERHEAD",
                                      "SAMPLING_CALLCHAINS",
                                      "ThreadNames"};
constexpr std::string_view kSilent[] = {"ANALYSIS_", "ENUM_", "EXPORT_", "META_DATA_", "TARGET_"};

bool isRead(std::string_view table) noexcept {
  return std::find(std::begin(kRead), std::end(kRead), table) != std::end(kRead) ||
         std::any_of(std::begin(kExpected), std::end(kExpected), [&](const auto& each) {
           return each.first == table;
         });
}

bool isSilent(std::string_view table) noexcept {
  return std::any_of(std::begin(kSilent), std::end(kSilent), [&](std::string_view prefix) {
    return table.starts_with(prefix);
  });
}

std::string hostNameOf(const std::filesystem::path& file, std::string named) {
  if (!named.empty())
    return named;
  const std::string name = file.filename().string();
  return name.substr(0, name.find('.'));
}

Error nothingIn(const NsightContext& context) {
  const FileFaults& faults = context.account.faults;
  const std::string file = context.file.path().string();
  if (!faults.cutShort.empty())
    return {ErrorCode::Corrupt, faults.cutShort + ": was it copied whole?"};
  if (faults.events > 0)
    return {ErrorCode::Corrupt,
            fmt::format("'{}': none of its {} events can be read; the first is {}",
                        file,
                        faults.events,
                        faults.first)};
  std::string why;
  for (const std::string& warning : context.account.warnings)
    why += fmt::format("; {}", warning);
  return {ErrorCode::Corrupt,
          fmt::format("'{}': it has no events that can be imported{}", file, why)};
}

}  // namespace

NsightImporter::NsightImporter(store::TraceWriter& writer,
                               std::filesystem::path scratch,
                               BytesRead bytesRead)
    : writer_(writer), scratch_(std::move(scratch)), bytesRead_(std::move(bytesRead)) {}

void NsightImporter::sayWhatIsMissing(NsightContext& context) {
  std::vector<std::string> missing;
  for (const auto& [table, what] : kExpected)
    if (!context.file.has(table))
      missing.push_back(fmt::format("{} ({})", what, table));
  std::vector<std::string> left;
  for (const auto& [table, rows] : context.file.tables())
    if (!isRead(table) && !isSilent(table))
      left.push_back(table);
  if (!missing.empty())
    context.account.warnings.push_back(
        fmt::format("the export has no {}", fmt::join(missing, ", ")));
  if (!left.empty())
    context.account.warnings.push_back(fmt::format("not imported: {}", fmt::join(left, ", ")));
  const std::string& version = context.file.version();
  if (!version.empty() && !version.starts_with("3."))
    context.account.warnings.push_back(
        fmt::format("its schema is version {}, and Sonde knows version 3: tables and columns with "
                    "known names were imported",
                    version));
}

Result<void> NsightImporter::readAll(NsightContext& context) const {
  SONDE_TRY(context.names.open());
  SONDE_TRY(readNsightClock(context));
  SONDE_TRY(importNsightCalls(context));
  SONDE_TRY(importNsightRanges(context));
  SONDE_TRY(importNsightMpi(context));
  SONDE_TRY(importNsightSamples(context, scratch_));
  NsightDevice device(context);
  SONDE_TRY(device.read());
  if (context.account.events.empty())
    return nothingIn(context);
  SONDE_TRY(readNsightPlaces(context));
  context.places.setRankIfNone(rankInName_);
  if (const auto rank = context.places.rankOf(ImportedPlaces::kMain))
    context.account.ranks.insert(*rank);
  SONDE_TRY(context.finish());
  return device.finish();
}

Result<ImportedFile> NsightImporter::import(const std::filesystem::path& path) {
  SONDE_TRY_ASSIGN(const NsightFile file, NsightFile::open(path));
  SONDE_TRY_ASSIGN(std::string host, nsightHostName(file));
  NsightContext context(
      file, writer_, scratch_, hostNameOf(path, std::move(host)), std::move(bytesRead_));
  SONDE_TRY(readAll(context));
  sayWhatIsMissing(context);
  context.account.process = context.places.idOf(ImportedPlaces::kMain);
  return std::move(context.account);
}

}  // namespace sonde::ingest
