// The arguments and arrows that viewers show with a span. Owned by one visit, on its thread; must
// not outlive the trace's connection. A returned view is valid until the next call.
#pragma once

#include "analysis/export/timeline.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::exports {

class SpanFacts {
 public:
  static Result<SpanFacts> open(const store::Database& trace);

  // A JSON object, or empty. For an imported event: its original text, made strict JSON.
  Result<std::string_view> argsOfSlice(std::int64_t id, model::OptionalInt correlation);
  // `owner`: "kernel", "copy" or "sync".
  Result<std::string_view> argsOfWork(std::string_view owner, std::int64_t id);

  Result<std::span<const FlowEnd>> flowsOfSlice(std::int64_t id, model::OptionalInt correlation);
  Result<std::span<const FlowEnd>> flowsOfWork(std::string_view owner,
                                               std::int64_t id,
                                               bool launched);

  // torch.profiler's words.
  static std::string_view categoryOf(std::string_view owner, std::string_view kind) noexcept;
  static std::string_view nameOfSync(std::string_view kind) noexcept;

 private:
  SpanFacts(store::Statement args, store::Statement links, store::Statement launches) noexcept;

  Result<bool> readArgs(std::string_view owner, std::int64_t id);
  Result<void> readLinks(std::string_view owner, std::int64_t id);
  // Reads the row's columns by name.
  Result<void> readFacts(store::Statement& row, std::int64_t id);

  store::Statement args_;
  store::Statement links_;
  store::Statement launches_;
  std::vector<store::Statement> work_;        // of kernels, copies and syncs
  std::optional<store::Statement> handoffs_;  // if the trace has any
  bool anyArgs_ = false;
  bool anyLinks_ = false;
  bool anyLaunches_ = false;
  std::string json_;
  std::vector<FlowEnd> flows_;
  std::set<std::string, std::less<>> kinds_;  // of links: few, and FlowEnd refers to them
};

}  // namespace sonde::exports
