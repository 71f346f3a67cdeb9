#include "analysis/ingest/stacks/merge_python.h"

#include <algorithm>
#include <cstddef>

namespace sonde::ingest {
namespace {

using Functions = std::span<const PythonCall>;

// Groups Python functions by entry from native code.
std::vector<Functions> entriesOf(Functions python) {
  std::vector<Functions> entries;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < python.size(); ++at) {
    if (!python[at].isEntry && at + 1 < python.size())
      continue;
    entries.push_back(python.subspan(begin, at + 1 - begin));
    begin = at + 1;
  }
  return entries;
}

void append(std::vector<model::FrameId>& frames, Functions functions) {
  for (const PythonCall& call : functions)
    frames.push_back(call.frame);
}

}  // namespace

std::vector<model::FrameId> mergePython(std::span<const NativeCall> native,
                                        std::span<const PythonCall> python,
                                        bool complete) {
  std::vector<model::FrameId> frames;
  const std::vector<Functions> entries = entriesOf(python);
  const auto loops = static_cast<std::size_t>(
      std::count_if(native.begin(), native.end(), [](const auto& call) { return call.evaluates; }));
  const auto firstLoop =
      std::find_if(native.begin(), native.end(), [](const auto& call) { return call.evaluates; });
  const void* const interpreter =
      python.empty() || firstLoop == native.end() ? nullptr : firstLoop->file;
  // The innermost loops may be too young to have run a function.
  std::size_t young = complete && loops > entries.size() ? loops - entries.size() : 0;
  if (python.empty())
    young = loops;
  std::size_t entry = 0;
  std::size_t outside = 0;  // number of frames outside of the outermost Python function
  bool isStart = true;      // all outer frames belong to the interpreter's start
  for (std::size_t at = 0; at < native.size(); ++at) {
    const NativeCall& call = native[at];
    if (call.evaluates && young == 0 && entry < entries.size()) {
      append(frames, entries[entry++]);
      outside = frames.size();
      isStart = true;
      continue;
    }
    if (call.evaluates && young > 0)
      --young;
    if (interpreter != nullptr && call.file == interpreter && at > 0)
      continue;
    isStart = isStart && call.begins;
    frames.push_back(call.frame);
  }
  if (entry == entries.size() && outside > 0 && isStart)
    frames.resize(outside);
  for (; entry < entries.size(); ++entry)
    append(frames, entries[entry]);
  return frames;
}

}  // namespace sonde::ingest
