// Reads the spool file of one process image: its identity, its definitions and the bytes that its
// threads have committed; also gives slots back. The only code that reads a file while another
// process writes it.
//
// Owned by one drainer, on one thread. The process that writes may be running, dead or long gone.
// Nothing in the file is trusted: every number is checked before use, and record bytes are copied
// before they are parsed. Only a file that shrinks while it is mapped crashes the reader; only its
// owner could do that.
#pragma once

#include "base/result.h"
#include "collector/wire/definitions.h"
#include "collector/wire/recording_state.h"
#include "collector/wire/spool_format.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
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
  enum class Access { ReadOnly, ReadWrite };

  // Corrupt: not a spool file, or truncated within its header. Unsupported: another version. Busy:
  // files or memory have run out; it may open later.
  static Result<SpoolReader> open(const std::filesystem::path& path, Access access);
  SpoolReader(SpoolReader&& other) noexcept;
  SpoolReader& operator=(SpoolReader&& other) noexcept;
  SpoolReader(const SpoolReader&) = delete;
  SpoolReader& operator=(const SpoolReader&) = delete;
  ~SpoolReader();

  const SpoolIdentity& identity() const noexcept { return identity_; }
  const std::filesystem::path& path() const noexcept { return path_; }

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

  // Calls `visit` for every definition committed since the last call. `definition`: a copy with
  // header.claim's size, which is at least that of a DefinitionHeader.
  void newDefinitions(const std::function<void(std::span<const std::byte> definition)>& visit);

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
  void closeFile() noexcept;

  LossTable losses() const;
  PluginLossTable pluginLosses() const;    // by the plugin's number
  bool finished() const noexcept;          // the process left by exit or _exit
  bool hasBecomeAnother() const noexcept;  // … by an exec, if the process has left this image
  std::optional<int> exitStatus() const noexcept;  // the status with which it left, if known
  std::uint64_t allocatedBytes() const noexcept;
  // Number of definition slots that were left unread because their chain of records is broken.
  std::uint32_t damagedDefinitions() const noexcept { return damagedDefinitions_; }

  // The probes that the process was asked to record.
  std::uint32_t probeMask() const noexcept;
  // Turns recording on or off, or pauses it, in the process. Requires: Access::ReadWrite.
  void setRecording(wire::RecordingState state) noexcept;

 private:
  struct DefinitionSlot {
    std::uint32_t index = 0;
    std::uint64_t seq = 0;
    std::uint32_t next = 0;            // offset of the first record not walked over yet
    std::vector<std::uint32_t> holes;  // claimed but not yet committed
    bool broken = false;
  };
  enum class DefinitionRead { Committed, Hole, End, Broken };

  SpoolReader() = default;
  Result<void> adopt(int fd, Access access);
  Result<void> readIdentity();
  void growMapping();
  std::uint32_t usableSlots();
  const wire::FileHeader& header() const noexcept;
  wire::SlotTable& table() const noexcept;
  std::byte* slotBase(std::uint32_t index) const noexcept;
  void readSlotHeader(SpoolSlot& slot) const noexcept;
  bool copyOpenCalls(const SpoolSlot& slot, wire::OpenCalls& copy) const noexcept;
  DefinitionSlot* definitionSlot(std::uint32_t index);
  DefinitionRead readDefinition(const DefinitionSlot& slot,
                                std::uint32_t offset,
                                std::uint32_t& size);
  void walkDefinitions(DefinitionSlot& slot,
                       const std::function<void(std::span<const std::byte>)>& visit);

  std::filesystem::path path_;
  SpoolIdentity identity_;
  int fd_ = -1;
  bool writable_ = false;
  std::byte* base_ = nullptr;
  std::size_t mappedBytes_ = 0;
  std::uint32_t damagedDefinitions_ = 0;
  std::vector<SpoolSlot> slots_;
  std::vector<DefinitionSlot> definitionSlots_;
  std::vector<std::byte> buffer_;
  std::vector<wire::OpenScope> scopes_;
};

}  // namespace sonde::recorder
