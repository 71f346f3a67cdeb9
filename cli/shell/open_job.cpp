#include "cli/shell/open_job.h"

#include "analysis/engine/merge/merge.h"
#include "analysis/store/trace_file.h"
#include "analysis/store/trace_name.h"
#include "base/whole_file.h"
#include "cli/shell/command.h"
#include "cli/shell/progress_bar.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

Result<fs::path> temporaryFolder() {
  std::error_code problem;
  const fs::path base = fs::temp_directory_path(problem);
  std::string name = (base / "sonde-XXXXXX").string();
  if (problem || mkdtemp(name.data()) == nullptr)
    return Error{ErrorCode::Io,
                 fmt::format("cannot create a folder in {} for merging the traces ({}): set TMPDIR "
                             "to a writable folder",
                             base.string(),
                             std::generic_category().message(errno))};
  return fs::path(name);
}

void removeAll(const fs::path& folder) {
  std::error_code ignored;
  if (!folder.empty())
    fs::remove_all(folder, ignored);
}

}  // namespace

Job::Job(store::Database database) noexcept : database_(std::move(database)) {}

Job::Job(Job&& other) noexcept
    : database_(std::move(other.database_)),
      temporary_(std::exchange(other.temporary_, fs::path())),
      scratch_(std::move(other.scratch_)) {}

Job::~Job() {
  removeAll(temporary_);
}

Result<Job> Job::open(const char* verb, const std::vector<std::string>& traces) {
  if (traces.size() == 1) {
    SONDE_TRY_ASSIGN(store::Database database, store::openTrace(traces.front()));
    return Job(std::move(database));
  }
  SONDE_TRY_ASSIGN(const fs::path folder, temporaryFolder());
  const fs::path merged = folder / "job.sonde";
  auto scratch = store::temporaryTrace(folder, merged);
  const auto summary = [&] {
    const ProgressBar bar(verb);
    return engine::merge::merge(
        {{traces.begin(), traces.end()}, merged, false, ProgressBar::progress()});
  }();
  if (!summary) {
    removeAll(folder);
    return summary.error();
  }
  for (const std::string& warning : summary->warnings)
    complain(verb, warning);
  auto database = store::openTrace(merged);
  if (!database) {
    removeAll(folder);
    return database.error();
  }
  Job job(*std::move(database));
  job.temporary_ = folder;
  job.scratch_ = std::move(scratch);
  return job;
}

Result<void> checkApart(const std::string& output, const std::vector<std::string>& traces) {
  if (output.empty())
    return {};
  for (const std::string& trace : traces)
    if (leadsTo(output, trace) || leadsTo(store::partOf(output), trace))
      return Error{
          ErrorCode::InvalidArgument,
          fmt::format(
              "writing '{}' would overwrite the input '{}': give -o another name", output, trace)};
  return {};
}

}  // namespace sonde::cli
