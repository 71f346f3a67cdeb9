// Files of CUPTI's own records from a GPU's driver. recorder.cpp writes them on a machine with a
// GPU, replay.cpp replays them on one without. All integers are in the recording machine's byte
// order (little-endian).
//
//   FileHeader
//   then repeatedly an EntryHeader, `textBytes` of text, `recordBytes` of record; each padded to
//   8 bytes
//
// Pointers in a record are meaningless in a file: the text is the name that the pointer referred
// to.
#pragma once

#include <cstdint>

namespace sonde::test {

inline constexpr char kRecordsMagic[8] = {'C', 'U', 'P', 'T', 'I', 'R', 'E', 'C'};

struct FileHeader {
  char magic[8];
  std::uint32_t cuptiVersion;   // from cuptiGetVersion
  std::uint32_t driverVersion;  // from cuDriverGetVersion
};

enum class EntryKind : std::uint32_t {
  Record = 1,        // text: the kernel's or device's name, if it is one
  CallbackName = 2,  // text: the name of callback `cbid` of `domain`; no record
  Dropped = 3,       // CUPTI dropped `cbid` records here
};

struct EntryHeader {
  EntryKind kind;
  std::uint32_t domain;
  std::uint32_t cbid;
  std::uint32_t textBytes;
  std::uint32_t recordBytes;
  std::uint32_t reserved;
};

constexpr std::uint32_t padded(std::uint32_t bytes) {
  return (bytes + 7) / 8 * 8;
}

}  // namespace sonde::test
