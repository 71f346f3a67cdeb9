// Stores call stacks that PyTorch wrote as lists of {name, filename, line}, innermost call first.
// Owned by one importer, on one thread. Stacks share their outer parts.
#pragma once

#include "analysis/ingest/pickle/value_tree.h"
#include "analysis/model/code.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sonde::ingest {

class PythonStacks {
 public:
  explicit PythonStacks(store::TraceWriter& writer) : writer_(writer) {}

  // No id: `frames` is not a list of frames, or is empty. `frame.line` is the line of the call.
  Result<model::StackId> stackOf(const Value& frames);

 private:
  using FrameKey = std::tuple<std::string, std::string, std::int64_t>;  // name, file, line

  Result<model::FrameId> frameOf(const Value& frame);

  store::TraceWriter& writer_;
  std::map<FrameKey, model::FrameId> frames_;
  std::map<std::pair<std::int64_t, std::int64_t>, model::StackId> stacks_;  // by caller and frame
  std::unordered_map<std::uint32_t, model::StackId> known_;  // by identity of the list
};

}  // namespace sonde::ingest
