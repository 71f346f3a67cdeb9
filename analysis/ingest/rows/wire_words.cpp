#include "analysis/ingest/rows/wire_words.h"

#include <array>

namespace sonde::ingest {
namespace {

template <std::size_t N>
std::string_view at(const std::array<std::string_view, N>& words, std::size_t index) noexcept {
  return index < N ? words[index] : std::string_view("unknown");
}

static_assert(model::kProbeWords.size() == static_cast<std::size_t>(wire::Probe::Count));

constexpr std::array<std::string_view, static_cast<std::size_t>(wire::RecordKind::Count)> kRecords =
    {"name",           "scope begin",
     "scope end",      "call",
     "range begin",    "range end",
     "mark",           "scalar",
     "iteration info", "arg",
     "collective",     "transfer",
     "clock sync",     "thread end",
     "fork",           "exec",
     "device call",    "kernel",
     "device copy",    "device sync",
     "device memory",  "collective part",
     "device metric",  "file access",
     "message",        "handoff",
     "stack sample",   "tensor statistics",
     "counter value",  "note",
     "allocation",     "release"};

constexpr std::array<std::string_view, static_cast<std::size_t>(wire::LossReason::Count)> kReasons =
    {"spool full",
     "signal",
     "depth",
     "definitions",
     "unbalanced",
     "no thread",
     "names",
     "spool not reachable",
     "tracer",
     "not supported",
     "blocks"};

constexpr std::array<std::string_view, static_cast<std::size_t>(wire::PluginCall::Count)>
    kPluginCalls = {
        "intern", "begin", "end", "call", "mark", "counter", "value", "argument", "note", "other"};

constexpr std::array<std::string_view, static_cast<std::size_t>(wire::PluginMistake::Count)>
    kMistakes = {"not between start and stop",
                 "null pointer",
                 "text too long",
                 "unknown name",
                 "unknown kind",
                 "impossible time",
                 "not open on this thread",
                 "not its own scope",
                 "not the last record of its thread",
                 "unknown counter",
                 "not a finite number",
                 "too many"};

}  // namespace

std::string_view probeWord(wire::Probe probe) noexcept {
  return at(model::kProbeWords, static_cast<std::size_t>(probe));
}

std::string_view recordWord(wire::RecordKind kind) noexcept {
  return at(kRecords, static_cast<std::size_t>(kind));
}

std::string_view deviceCallWord(std::uint8_t number) noexcept {
  switch (static_cast<wire::DeviceCallKind>(number)) {
    case wire::DeviceCallKind::Runtime:
      return "cuda_runtime";
    case wire::DeviceCallKind::Driver:
      return "cuda_driver";
    case wire::DeviceCallKind::Overhead:
    case wire::DeviceCallKind::Compile:
      return "overhead";
    case wire::DeviceCallKind::ExternalId:
      break;
  }
  return probeWord(wire::Probe::Cuda);
}

std::string_view managedMemoryWord(std::uint8_t number) noexcept {
  switch (static_cast<wire::DeviceMemoryKind>(number)) {
    case wire::DeviceMemoryKind::CpuPageFault:
      return "CPU page fault";
    case wire::DeviceMemoryKind::GpuPageFault:
      return "GPU page fault";
    case wire::DeviceMemoryKind::Thrashing:
      return "Memory thrashing";
    case wire::DeviceMemoryKind::Throttling:
      return "Memory throttling";
    case wire::DeviceMemoryKind::RemoteMap:
      return "Remote memory mapping";
    default:
      return {};
  }
}

std::string_view memoryCauseWord(std::uint8_t kind, std::uint32_t cause) noexcept {
  constexpr std::array<std::string_view, 5> kAccesses = {"", "read", "write", "atomic", "prefetch"};
  constexpr std::array<std::string_view, 6> kMappings = {
      "", "coherence", "thrashing", "policy", "out of memory", "eviction"};
  const bool isMapping =
      static_cast<wire::DeviceMemoryKind>(kind) == wire::DeviceMemoryKind::RemoteMap;
  return isMapping ? at(kMappings, cause) : at(kAccesses, cause);
}

std::string_view migrationCauseWord(wire::MigrationCause cause) noexcept {
  constexpr std::array<std::string_view, 6> kCauses = {
      "", "user", "coherence", "prefetch", "eviction", "access counters"};
  return at(kCauses, static_cast<std::size_t>(cause));
}

std::string_view codeWord(wire::CodeCategory category) noexcept {
  switch (category) {
    case wire::CodeCategory::Framework:
      return "framework";
    case wire::CodeCategory::Simulator:
      return "simulator";
    case wire::CodeCategory::Other:
      return "other";
    default:
      return probeWord(wire::Probe::Python);
  }
}

std::string_view pluginCallWord(wire::PluginCall call) noexcept {
  return at(kPluginCalls, static_cast<std::size_t>(call));
}

std::string_view mistakeWord(wire::PluginMistake mistake) noexcept {
  return at(kMistakes, static_cast<std::size_t>(mistake));
}

std::string_view lossWord(wire::LossReason reason) noexcept {
  return at(kReasons, static_cast<std::size_t>(reason));
}

std::optional<model::SliceKind> sliceKind(std::uint8_t number) noexcept {
  const auto kind = static_cast<model::SliceKind>(number);
  return model::word(kind).empty() ? std::nullopt : std::optional(kind);
}

std::optional<model::CollectiveOp> collectiveOp(std::uint8_t number) noexcept {
  const auto op = static_cast<model::CollectiveOp>(number);
  return model::word(op).empty() ? std::nullopt : std::optional(op);
}

std::optional<model::ChannelKind> channelKind(std::uint8_t number) noexcept {
  const auto kind = static_cast<model::ChannelKind>(number);
  return model::word(kind).empty() ? std::nullopt : std::optional(kind);
}

std::optional<model::SyncObject> syncObject(std::uint8_t number) noexcept {
  const auto kind = static_cast<model::SyncObject>(number);
  return model::word(kind).empty() ? std::nullopt : std::optional(kind);
}

std::optional<model::Allocator> allocator(std::uint8_t number) noexcept {
  const auto who = static_cast<model::Allocator>(number);
  return model::word(who).empty() ? std::nullopt : std::optional(who);
}

model::DataType dataType(std::uint8_t number) noexcept {
  const auto type = static_cast<model::DataType>(number);
  return model::word(type).empty() ? model::DataType::Unknown : type;
}

}  // namespace sonde::ingest
