// The fields of one event of the Trace Event Format (Chrome's, also torch.profiler's). Plain
// values; any thread.
//
// Source: "Trace Event Format" (Google, 2016); for torch.profiler, kineto's output_json.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::ingest {

using OptionalNumber = std::optional<std::int64_t>;

// Whether this is valid as a time in ns, or as the base added to all times. The limit is the year
// 2043, so that the sum of both is a valid time, too (model::isTime).
constexpr std::int64_t kLatestNs = (std::int64_t{1} << 61) - 1;
constexpr bool isTime(std::int64_t ns) noexcept {
  return ns >= -kLatestNs && ns <= kLatestNs;
}

// A number or text that identifies something. Old files write some numbers as texts, e.g. "0x1f".
struct Label {
  std::string_view text{};  // of a text: the part inside the quotes; of a number: its digits
  OptionalNumber number{};
};

// The uses of an event's values.
enum class ValueUse : std::uint8_t { Event, Launch, Device, Collective, Metadata, Operation };
constexpr std::size_t kValueUses = 6;
// Values that are present, not null, and of the wrong type.
struct UnreadableValues {
  std::uint32_t count = 0;
  std::string_view first{};  // its name, which outlives the event
};

// The arguments that have columns. Missing ones and those of the wrong type are unset.
struct EventArgs {
  std::string_view json{};  // all of them: "{…}"; empty when there are none
  OptionalNumber correlation{};
  OptionalNumber externalId{};
  OptionalNumber device{};
  OptionalNumber stream{};
  OptionalNumber bytes{};
  OptionalNumber graphId{};
  OptionalNumber graphNodeId{};
  OptionalNumber registers{};
  OptionalNumber sharedBytes{};
  // Only written by `sonde export`.
  OptionalNumber staticSharedBytes{};
  OptionalNumber dynamicSharedBytes{};
  OptionalNumber localBytes{};
  OptionalNumber pinned{};
  std::array<OptionalNumber, 3> grid{};
  std::array<OptionalNumber, 3> block{};
  OptionalNumber eventId{};
  OptionalNumber recordCorrelation{};
  std::string_view syncKind{};
  std::string_view copyDetails{};  // XLA's: "kind_src:device size:4096 …"
  std::string_view taskType{};     // Ascend's: "AI_CORE"
  // Metadata.
  std::string_view name{};
  std::string_view host{};
  OptionalNumber hostId{};  // distinguishes hosts with one name; only in an export
  OptionalNumber pid{};
  OptionalNumber tid{};
  OptionalNumber rank{};
  OptionalNumber worldSize{};
  // NCCL's kernels.
  std::string_view collective{};
  std::string_view dtype{};
  std::string_view group{};
  std::string_view groupRanks{};  // "[0, 1]"
  OptionalNumber groupSize{};
  OptionalNumber inElements{};
  OptionalNumber outElements{};
  OptionalNumber seq{};
  OptionalNumber sourceRank{};  // -1: none
  OptionalNumber targetRank{};
  // Operation-level traces. -1: the operation has none.
  OptionalNumber step{};
  OptionalNumber modelChunk{};
  OptionalNumber microBatch{};
  OptionalNumber sequence{};  // n-th of its type in the step on that worker

  std::array<UnreadableValues, kValueUses> unreadable{};  // by use
};

struct TraceEvent {
  std::size_t place = 0;  // of its bracket, in the parsed text
  bool isEmpty = true;    // "{}", XLA's end of a list
  char phase = '\0';
  std::string_view category{};
  std::string_view name{};
  Label pid{};
  Label tid{};
  Label id{};
  bool idIsLocal = false;  // to the process
  bool bindsEnclosing = false;
  bool hasBindId = false;  // it is also the end of an arrow
  OptionalNumber startNs{};
  OptionalNumber durNs{};
  bool badTime = false;  // it has an invalid time
  // Only written by `sonde export`.
  std::string_view kind{};
  OptionalNumber iteration{};
  OptionalNumber lane{};
  OptionalNumber depth{};
  OptionalNumber device{};
  OptionalNumber stream{};
  Label launcher{};  // the process that launched it
  EventArgs args{};
};

}  // namespace sonde::ingest
