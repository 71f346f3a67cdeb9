// Writes spool files byte by byte by the format header, without Sonde's library. For tests of
// readers, also with files that no library would write. One thread.
#pragma once

#include "collector/wire/definitions.h"
#include "collector/wire/spool_format.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::test {

class SpoolBuilder {
 public:
  // The process with `pid` is not alive, unless the test uses a real one. Ticks are ns of
  // CLOCK_MONOTONIC unless `clock` is TSC.
  explicit SpoolBuilder(std::int32_t pid = 1 << 22,
                        wire::ClockKind clock = wire::ClockKind::Monotonic);

  wire::FileHeader& header();
  void command(const std::vector<std::string>& arguments);
  wire::LossCounters& losses();
  wire::PluginLosses& pluginLosses();
  wire::SlotHeader& slot(std::uint32_t index);
  std::atomic<wire::SlotState>& state(std::uint32_t index);
  std::vector<std::byte>& bytes() noexcept { return bytes_; }

  std::uint32_t string(std::string_view text);
  void thread(std::uint32_t index, std::int32_t tid, std::uint64_t startTicks = 1);
  void threadName(std::uint32_t index, std::string_view name);
  std::uint32_t channel(wire::ChannelKind kind, std::string_view local, std::string_view remote);
  std::uint32_t communicator(std::string_view key,
                             std::vector<std::int32_t> ranks,
                             std::int32_t position);

  void device(std::uint32_t ordinal, std::string_view name, std::uint8_t uuid);
  // A stream of context 1.
  std::uint32_t stream(std::uint32_t device, std::uint32_t number);

  void plugin(std::uint8_t number,
              std::string_view name,
              std::string_view category,
              std::string_view version);
  void counter(std::uint32_t id, std::uint8_t plugin, std::string_view name, std::string_view unit);

  // Starts another slot for the thread; returns its index. The previous one becomes Full.
  std::uint32_t openSlot(std::uint32_t thread, const std::vector<wire::OpenScope>& scopes = {});
  void closeSlot(std::uint32_t thread);  // Full
  // Appends a record to the thread's slot; opens a slot if there is none or it is full.
  template <typename Record>
  void add(std::uint32_t thread, wire::RecordKind kind, Record record) {
    record.header.size = sizeof record;
    record.header.kind = kind;
    append(thread, {reinterpret_cast<const std::byte*>(&record), sizeof record});
  }
  void append(std::uint32_t thread, std::span<const std::byte> record);
  // The thread is in a call that will become this record, inside those added before.
  template <typename Record>
  void enter(std::uint32_t thread, wire::RecordKind kind, Record record) {
    record.header.size = sizeof record;
    record.header.kind = kind;
    enter(thread, {reinterpret_cast<const std::byte*>(&record), sizeof record});
  }
  void enter(std::uint32_t thread, std::span<const std::byte> record);

  std::uint32_t begin(std::uint32_t thread,
                      wire::SliceKind kind,
                      std::string_view name,
                      std::uint64_t ticks,
                      wire::Probe probe = wire::Probe::Annotation);
  void end(std::uint32_t thread, std::uint32_t token, std::uint64_t ticks);
  void call(std::uint32_t thread,
            wire::SliceKind kind,
            std::string_view name,
            std::uint64_t beginTicks,
            std::uint64_t endTicks);
  void argInt(std::uint32_t thread, std::uint32_t token, std::string_view key, std::int64_t value);
  void clockSync(std::uint32_t thread, std::uint64_t ticks, std::int64_t monotonicNs);

  // The library's name for the file.
  std::string fileName();
  std::filesystem::path write(const std::filesystem::path& folder);
  // Writes over an existing file, which a reader may have mapped.
  void rewrite(const std::filesystem::path& folder);

 private:
  struct ThreadSlot {
    std::uint32_t thread;
    std::uint32_t slot;  // 0: none
  };
  std::uint32_t claim(wire::SlotState as);
  void define(wire::DefinitionKind kind, std::vector<std::byte> definition);
  std::uint32_t& slotOf(std::uint32_t thread);

  std::vector<std::byte> bytes_;
  std::vector<ThreadSlot> slots_;
  std::vector<std::string> strings_;
  std::uint32_t definitionSlot_ = 0;
  std::uint32_t nextToken_ = 1;
  std::uint32_t nextChannel_ = 1;
  std::uint32_t nextCommunicator_ = 1;
  std::uint32_t nextStream_ = 1;
};

}  // namespace sonde::test
