// Collects the sections of readDetails(). reader_details.cpp has the common part, slices and
// transfers; reader_device_details.cpp has the events of streams. Worker's thread; lives for one
// event.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/trace/trace_data.h"

#include <vector>

namespace sonde::gui {

class DetailsReader {
 public:
  DetailsReader(const store::Database& trace,
                const Skeleton& skeleton,
                const FoundEvent& found,
                const Arrows& arrows)
      : trace_(trace), skeleton_(skeleton), found_(found), arrows_(arrows) {}

  Result<std::vector<DetailsSection>> read();

 private:
  void addSummary();
  void addProcess();
  Result<void> readSlice();
  Result<void> readTransfer();
  Result<void> readKernel();
  Result<void> readCopy();
  Result<void> readSync();
  void addLaunch();
  void addLaunched();
  Result<void> addLaunchScope();
  Result<void> addIteration(std::int64_t sliceId);
  Result<void> addArguments(const char* owner, std::int64_t id);
  Result<void> addCounters(std::int64_t sliceId);
  Result<void> addParents(const QString& title, std::int64_t sliceId);
  // A section with the non-NULL columns of the rows of `sql`; ?1 is `id`.
  Result<void> addColumns(const QString& title, const char* sql, std::int64_t id);
  [[nodiscard]] QString valueOf(const store::Statement& row, int column, const QString& name) const;
  [[nodiscard]] const TrackInfo& trackOf(const FoundEvent& event) const {
    return skeleton_.tracks.at(static_cast<std::size_t>(event.track));
  }

  const store::Database& trace_;
  const Skeleton& skeleton_;
  const FoundEvent& found_;
  const Arrows& arrows_;
  std::vector<DetailsSection> sections_;
};

}  // namespace sonde::gui
