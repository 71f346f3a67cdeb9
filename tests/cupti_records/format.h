// Files of CUPTI's own records, as a GPU's driver gave them: made by recorder.cpp on a machine with
// a GPU, handed out again by replay.cpp where there is none. All integers as the recording machine
// has them (little-endian).
//
//   FileHeader
//   then, again and again, an EntryHeader, `textBytes` of text, `recordBytes` of record; each
//   padded to 8 bytes
//
// Pointers in a record mean nothing in a file: the text is what its name pointed to.
#pragma once

#include <cstdint>

namespace sonde::test {

inline constexpr char kRecordsMagic[8] = {'C', 'U', 'P', 'T', 'I', 'R', 'E', 'C'};

struct FileHeader {
  char magic[8];
  std::uint32_t cuptiVersion;   // cuptiGetVersion's
  std::uint32_t driverVersion;  // cuDriverGetVersion's
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
