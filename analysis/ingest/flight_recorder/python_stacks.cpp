#include "analysis/ingest/flight_recorder/python_stacks.h"

#include "base/utf8.h"

#include <algorithm>
#include <string_view>

namespace sonde::ingest {
namespace {

constexpr std::size_t kMostFrames = 1024;

// Dumps with C++ frames have them in the same list.
bool isPythonFile(std::string_view file) noexcept {
  return file.ends_with(".py") || file.starts_with("<");
}

}  // namespace

Result<model::FrameId> PythonStacks::frameOf(const Value& frame) {
  const std::string name = toText(frame.find("name").text().value_or("?"));
  const std::string file = toText(frame.find("filename").text().value_or(""));
  const std::int64_t line = frame.find("line").integer().value_or(0);
  const auto [known, isNew] = frames_.try_emplace(FrameKey{name, file, line});
  if (!isNew)
    return known->second;
  model::Frame row;
  row.kind = isPythonFile(file) ? model::FrameKind::Python : model::FrameKind::Native;
  SONDE_TRY_ASSIGN(row.nameId, writer_.intern(name));
  if (!file.empty()) {
    SONDE_TRY_ASSIGN(row.pathId, writer_.intern(file));
  }
  if (line > 0)
    row.line = line;
  SONDE_TRY_ASSIGN(known->second, writer_.add(row));
  return known->second;
}

Result<model::StackId> PythonStacks::stackOf(const Value& frames) {
  model::StackId stack{};
  if (frames.size() == 0 || !frames.isSequence())
    return stack;
  if (const auto known = known_.find(frames.identity()); known != known_.end())
    return known->second;
  for (std::size_t at = std::min(frames.size(), kMostFrames); at > 0; --at) {
    SONDE_TRY_ASSIGN(const model::FrameId frame, frameOf(frames.at(at - 1)));
    const auto [known, isNew] = stacks_.try_emplace(std::pair(stack.value, frame.value));
    if (isNew) {
      model::Stack row;
      row.parentId = stack;
      row.frameId = frame;
      SONDE_TRY_ASSIGN(known->second, writer_.add(row));
    }
    stack = known->second;
  }
  known_.emplace(frames.identity(), stack);
  return stack;
}

}  // namespace sonde::ingest
