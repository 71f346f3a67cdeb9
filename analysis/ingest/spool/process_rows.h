// Makes rows of what is recorded about the process itself and its threads: arguments, clock
// readings, ends of threads, forks, execs.
//
// Part of one ImageBuilder, on its thread.
#pragma once

#include "analysis/ingest/spool/call_rows.h"
#include "analysis/ingest/spool/image_context.h"
#include "analysis/ingest/spool/iteration_rows.h"
#include "analysis/ingest/spool/scope_rows.h"
#include "base/result.h"
#include "collector/wire/records.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::ingest {

class ProcessRows {
 public:
  // All must outlive it.
  ProcessRows(ImageContext& image, CallRows& calls, ScopeRows& scopes, IterationRows& iterations)
      : image_(image), calls_(calls), scopes_(scopes), iterations_(iterations) {}

  // Handlers of records.
  void onArg(ImageThread& thread, const std::byte* at);
  void onClockSync(ImageThread& thread, const std::byte* at);
  void onThreadEnd(ImageThread& thread, const std::byte* at);
  void onFork(ImageThread& thread, const std::byte* at);
  void onExec(ImageThread& thread, const std::byte* at);

  // The number of execs after which Sonde is not loaded.
  std::uint64_t notFollowed() const noexcept { return notFollowed_; }
  void restoreNotFollowed(std::uint64_t count) noexcept { notFollowed_ = count; }
  // Reads the row of the process, whose id is known, as an earlier recorder stored it.
  Result<void> restore();

 private:
  std::optional<model::ArgValue> valueOf(const wire::Arg& record);
  // Takes a fact of the process that has its own columns: its rank, the size of its world.
  bool takePlaceInJob(std::string_view key, const model::ArgValue& value);

  ImageContext& image_;
  CallRows& calls_;
  ScopeRows& scopes_;
  IterationRows& iterations_;
  std::uint64_t notFollowed_ = 0;
};

}  // namespace sonde::ingest
