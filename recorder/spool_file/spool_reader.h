// Reads the spool file of one process image: its identity, its definitions and the bytes that its
// threads have committed; also gives slots back. The only code, with its parts, that reads a file
// while another process writes it.
//
// Owned by one drainer, on one thread. The process that writes may be running, dead or long gone.
// Nothing in the file is trusted: every number is checked before use, and record bytes are copied
// before they are parsed.
#pragma once

#include "base/result.h"
#include "collector/wire/definitions.h"
#include "collector/wire/recording_state.h"
#include "collector/wire/spool_format.h"
#include "recorder/spool_file/spool_definitions.h"
#include "recorder/spool_file/spool_mapping.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sonde::recorder {

// The fixed part of the file's header, checked.
struct SpoolIdentity {
  std::int32_t pid = 0;
  std::int32_t parentPid = 0;
  std::uint64_t pidNamespace = 0;
  std::uint64_t startTime = 0;
  std::uint32_t execCount = 0;
  wire::ClockKind clock = wire::ClockKind::Monotonic;
  std::string bootId;
  std::vector<std::string> command;  // the arguments, not redacted, truncated if they are long
  std::int64_t testOffsetNs = 0;
  std::int64_t testDriftPpb = 0;
  std::uint64_t startTicks = 0;
  std::int64_t startMonotonicNs = 0;
  std::int64_t startRealtimeNs = 0;
  bool forked = false;
};

// A slot that holds, or will hold, records of one thread.
struct SpoolSlot {
  std::uint32_t index = 0;
  std::uint64_t seq = 0;
  std::uint32_t thread = 0;
  std::uint32_t scopeCount = 0;
  std::uint32_t firstRecord = 0;  // offset from the slot's start
  std::uint64_t claimTicks = 0;
  std::uint32_t committed = 0;  // bytes below this are readable; 0: none yet
  bool full = false;            // its thread has moved on: `committed` is final
  bool damaged = false;         // its header is invalid; nothing in it can be read

  // Whether it has no record so far.
  bool isBlank() const noexcept { return !damaged && committed == firstRecord; }
};

using LossTable = std::array<
    std::array<std::array<std::uint64_t, static_cast<std::size_t>(wire::LossReason::Count)>,
               static_cast<std::size_t>(wire::RecordKind::Count)>,
    static_cast<std::size_t>(wire::Probe::Count)>;

using PluginLossTable = std::array<
    std::array<std::array<std::uint64_t, static_cast<std::size_t>(wire::PluginMistake::Count)>,
               static_cast<std::size_t>(wire::PluginCall::Count)>,
    wire::kMaxPlugins + 1>;

class SpoolReader {
 public:
  using Access = SpoolMapping::Access;

  // Corrupt: not a spool file, or truncated within its header. Unsupported: another version. Busy:
  // files or memory have run out; it may open later.
  static Result<SpoolReader> open(const std::filesystem::path& path, Access access);

  const SpoolIdentity& identity() const noexcept { return identity_; }
  const std::filesystem::path& path() const noexcept { return file_.path(); }

  // Returns the slots that contain records now, in the order in which they were claimed. For one
  // thread, no slot between two listed ones is missing, and all except its last are complete.
  const std::vector<SpoolSlot>& snapshot();

  // Returns a copy of the slot's bytes from `from` up to `committed` of the snapshot. Empty if
  // there are none, or the slot has another owner by now. Valid until the next call.
  std::span<const std::byte> readRecords(const SpoolSlot& slot, std::uint32_t from);

  // The scopes that were open when the slot was claimed. Valid until the next call.
  std::span<const wire::OpenScope> readScopes(const SpoolSlot& slot);

  // The calls that a thread was in at the last snapshot, outermost first. Each is the record that
  // the call will become, with an end of 0. Lists only threads that are in a call. While the
  // process runs, it may list a call whose record has been committed by now.
  struct OpenCalls {
    std::uint32_t thread = 0;
    std::vector<std::vector<std::byte>> records;
  };
  std::vector<OpenCalls> openCalls() const;

  // Calls `visit` for every definition committed since the last call.
  void newDefinitions(const SpoolDefinitions::Visit& visit) { definitions_.visitNew(file_, visit); }
  // As SpoolDefinitions::damagedSlots().
  std::uint32_t damagedDefinitions() const noexcept { return definitions_.damagedSlots(); }

  // Gives the slot back to its process. Requires: Access::ReadWrite, and everything in it is
  // stored.
  void release(const SpoolSlot& slot) noexcept;

  // Number of slots that its threads can claim without a new chunk.
  std::uint32_t freeSlots();
  // Maximum number of slots in the file.
  std::uint32_t mostSlots() const noexcept;
  // Writes a spool file with the current contents of this one. Io, NoSpace.
  Result<void> copyTo(const std::filesystem::path& path);

  // No more records will be read: closes the file's descriptor. The header can still be read.
  void closeFile() noexcept { file_.closeFile(); }

  LossTable losses() const;
  PluginLossTable pluginLosses() const;    // by the plugin's number
  bool finished() const noexcept;          // the process left by exit or _exit
  bool hasBecomeAnother() const noexcept;  // … by an exec, if the process has left this image
  std::optional<int> exitStatus() const noexcept;  // the status with which it left, if known
  std::uint64_t allocatedBytes() const noexcept;

  // The probes that the process was asked to record.
  std::uint32_t probeMask() const noexcept;
  // Turns recording on or off, or pauses it, in the process. Requires: Access::ReadWrite.
  void setRecording(wire::RecordingState state) noexcept;

 private:
  SpoolReader(SpoolMapping file, SpoolIdentity identity)
      : file_(std::move(file)), identity_(std::move(identity)) {}
  void readSlotHeader(SpoolSlot& slot) const noexcept;
  bool copyOpenCalls(const SpoolSlot& slot, wire::OpenCalls& copy) const noexcept;

  SpoolMapping file_;
  SpoolIdentity identity_;
  SpoolDefinitions definitions_;
  std::vector<SpoolSlot> slots_;  // of the last snapshot
  std::vector<std::byte> buffer_;
  std::vector<wire::OpenScope> scopes_;
};

}  // namespace sonde::recorder
