// The iterations of a process: finds the one that a record belongs to, numbers them, and knows
// which probes were on in each. Also makes the rows of the values recorded in them.
//
// Part of one ImageBuilder, on its thread.
#pragma once

#include "analysis/ingest/rows/state_codec.h"
#include "analysis/ingest/spool/image_context.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sonde::ingest {

class IterationRows {
 public:
  // `probeMask`: the probes that the process was asked to record.
  IterationRows(ImageContext& image, std::uint32_t probeMask)
      : image_(image), probeMask_(probeMask) {}

  // Handlers of records.
  void onIterationInfo(ImageThread& thread, const std::byte* at);
  void onScalar(ImageThread& thread, const std::byte* at);
  void onTensor(ImageThread& thread, const std::byte* at);

  // `slice`: the iteration's scope.
  void begin(const ImageThread& thread, const model::Slice& slice);
  void end(const model::Slice& slice);
  // A scope of this kind begins on the thread.
  void beginInside(const ImageThread& thread, model::SliceKind kind);
  // Removes the number of the iteration that began last: its begin was lost. It may get its number
  // later.
  void takeNumberBack();
  void setMask(model::SliceId slice, std::uint32_t mask);
  // Read wire::IterationProbes and what follows it, before and after the iteration's end.
  void takeProbes(model::SliceId slice, std::span<const std::byte> bytes);
  void addProbeCalls(const ImageThread& thread,
                     model::SliceId slice,
                     std::span<const std::byte> bytes);
  // Reads an argument of a scope: its number, or that it is not complete.
  void readArg(TrackScope& scope, std::string_view key, std::int64_t value);

  // The builder's state has the numbers first and the lists later.
  void packNumbers(StatePacker& out) const;
  void packLists(StatePacker& out) const;
  void unpackNumbers(StateUnpacker& in);
  void unpackLists(StateUnpacker& in);

 private:
  struct ThreadIteration {
    std::uint32_t thread = 0;
    // The torch probe began it when the previous one ended, and nothing has begun in it yet.
    bool isAwaiting = false;
    bool isNumbered = true;  // false: its begin was lost, and so was its number
    model::Iteration row;
  };
  using Iterations = std::vector<ThreadIteration>;

  void setNumber(model::SliceId slice, std::int64_t number);
  void drop(TrackScope& scope);
  Iterations::iterator find(model::SliceId slice);
  ThreadIteration* openOn(const ImageThread& thread, std::int64_t ns);
  ThreadIteration* pastOn(const ImageThread& thread, std::int64_t ns);
  ThreadIteration* ofOthers(std::int64_t ns);
  // The iteration of something recorded on the thread at this time, or nullptr.
  ThreadIteration* iterationAt(const ImageThread& thread, std::int64_t ns);
  model::OptionalInt numberAt(const ImageThread& thread, std::int64_t ns);

  ImageContext& image_;
  std::uint32_t probeMask_;
  Iterations open_;
  Iterations past_;  // the latest completed ones
  std::int64_t next_ = 0;
  bool reportsProbes_ = false;  // iterations report at their ends which probes were on
};

}  // namespace sonde::ingest
