// The store's words for the spool format's enumerations. Texts are static; any thread.
#pragma once

#include "analysis/model/words.h"
#include "collector/wire/device_records.h"
#include "collector/wire/plugin_misuse.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::ingest {

// Converts a number of the spool to the store's integers, which are signed.
constexpr std::int64_t signedOf(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(value);
}

// `slice.category`, `loss.probe`; "unknown" for an invalid number.
std::string_view probeWord(wire::Probe probe) noexcept;
// `loss.kind`.
std::string_view recordWord(wire::RecordKind kind) noexcept;
// The category of a device call's slice.
std::string_view deviceCallWord(std::uint8_t number) noexcept;
// The name of a managed memory mark; empty for other kinds of wire::DeviceMemoryKind.
std::string_view managedMemoryWord(std::uint8_t number) noexcept;
// Empty if unknown. `cause`: of a mark of that kind.
std::string_view memoryCauseWord(std::uint8_t kind, std::uint32_t cause) noexcept;
std::string_view migrationCauseWord(wire::MigrationCause cause) noexcept;
// The category of a slice of the probe `python`.
std::string_view codeWord(wire::CodeCategory category) noexcept;
// `loss.kind` for a plugin's call that failed: the function, and its mistake.
std::string_view pluginCallWord(wire::PluginCall call) noexcept;
std::string_view mistakeWord(wire::PluginMistake mistake) noexcept;
// `loss.reason`.
std::string_view lossWord(wire::LossReason reason) noexcept;

// The model's value with the same number; unset if the number is invalid.
std::optional<model::SliceKind> sliceKind(std::uint8_t number) noexcept;
std::optional<model::CollectiveOp> collectiveOp(std::uint8_t number) noexcept;
std::optional<model::ChannelKind> channelKind(std::uint8_t number) noexcept;
std::optional<model::SyncObject> syncObject(std::uint8_t number) noexcept;
std::optional<model::Allocator> allocator(std::uint8_t number) noexcept;
model::DataType dataType(std::uint8_t number) noexcept;

}  // namespace sonde::ingest
