// Makes rows from a process's copies of stacks: samples, their stacks, and the stacks' frames.
// Stacks are stored from the outside in, so samples share their common part.
//
// Part of one ImageBuilder, on its thread. After a restart a stack or a frame may be stored again.
#pragma once

#include "analysis/ingest/rows/clock_fit.h"
#include "analysis/ingest/rows/dictionary.h"
#include "analysis/ingest/rows/process_row.h"
#include "analysis/ingest/rows/row_sink.h"
#include "analysis/ingest/stacks/code_map.h"
#include "analysis/ingest/stacks/merge_python.h"
#include "analysis/ingest/stacks/still_threads.h"
#include "analysis/ingest/stacks/unwinder.h"
#include "analysis/model/code.h"
#include "collector/wire/stack_records.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::ingest {

class StackRows {
 public:
  // All arguments except the time must outlive the object.
  StackRows(RowSink& sink, TimeBase time, const ProcessRow& process, Dictionary& dictionary);

  // Lines of the process's /proc/PID/maps at `ns`. Ignores duplicates.
  void addCode(std::string_view lines, std::int64_t ns);
  // A complete StackSample record. False: it is invalid.
  bool add(model::ThreadId thread, std::span<const std::byte> record);
  // A thread that has waited at `ns` and goes on waiting: a row of kind blocked without a duration.
  void addStill(model::ThreadId thread, std::int64_t ns, const StillThread& still);
  std::int64_t lastNs() const noexcept { return lastNs_; }

  // Restores the state of an earlier recorder.
  Result<void> restore();

 private:
  using FrameKey = std::pair<const CodeFile*, std::uint64_t>;

  using PythonKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // name, file, line

  const NativeCall& callAt(std::uint64_t address);
  NativeCall callOf(const MappedCode* code, std::uint64_t address);
  PythonCall callOf(const wire::PythonFrame& frame);
  void callsOf(std::span<const std::byte> registers,
               const wire::StackSample& head,
               std::span<const std::byte> stack);
  PythonCall callOf(const PythonPlace& place);
  void addOther(model::ThreadId thread, const model::StackSample& sample, std::uint64_t ticks);
  model::FrameId unnamed(const std::string& name);
  model::StackId stackOf(std::span<const model::FrameId> innermostFirst);

  RowSink& sink_;
  TimeBase time_;
  const ProcessRow& process_;
  Dictionary& dictionary_;
  CodeMap code_;
  Unwinder unwinder_;
  Unwound unwound_;
  std::vector<std::uint64_t> copy_;  // of a record, aligned
  std::vector<NativeCall> native_;
  std::vector<PythonCall> python_;
  std::unordered_map<std::uint64_t, NativeCall> byAddress_;  // until the code changes
  std::map<FrameKey, NativeCall> functions_;
  std::map<PythonKey, model::FrameId> pythonFunctions_;
  std::map<std::tuple<std::string, std::string, std::uint32_t>, model::FrameId> pythonPlaces_;
  std::map<std::string, model::FrameId, std::less<>> unnamed_;  // code without a file, by name
  std::map<std::pair<std::int64_t, std::int64_t>, model::StackId> stacks_;  // by caller and frame
  // By thread: time neither on a processor nor waiting that has no row yet.
  std::unordered_map<std::int64_t, std::int64_t> otherNs_;
  std::int64_t lastNs_ = 0;
};

}  // namespace sonde::ingest
