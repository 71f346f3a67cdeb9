// The contents of a spool file for tests, in the order of each thread's stream.
#pragma once

#include "recorder/spool_file/spool_reader.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sonde::core {

struct DumpedRecord {
  std::uint32_t thread;
  wire::RecordHeader header;
  std::vector<std::byte> bytes;

  template <typename Record>
  Record as() const {
    Record record{};
    std::memcpy(&record, bytes.data(), sizeof record);
    return record;
  }
};

struct SpoolDump {
  recorder::SpoolIdentity identity;
  std::map<std::uint32_t, std::string> strings;
  std::map<std::uint32_t, std::string> threadNames;
  std::vector<DumpedRecord> records;
  std::vector<std::string> opened;  // the scopes with which the latest slot begins
  std::uint32_t threads;            // registered
  recorder::LossTable losses;
  bool finished;

  // "begin NAME", "end NAME", "scalar NAME", … without the clock's own records.
  std::vector<std::string> story() const;
  std::uint64_t lost(wire::LossReason reason) const;
};

// Fails the current test if the file cannot be read.
SpoolDump dumpSpool(const std::filesystem::path& file);

inline constexpr std::uint64_t kRoom = 64 << 20;

// Runs `body` attached to a new folder of at most `limit` bytes, in a child. Returns the contents
// of the image's files, with those of forked children last.
std::vector<SpoolDump> record(const std::function<void()>& body, std::uint64_t limit = kRoom);

}  // namespace sonde::core
