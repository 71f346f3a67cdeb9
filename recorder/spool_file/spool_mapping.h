// A spool file in memory: its header and its slots, of which there are more as the file grows.
//
// Owned by one SpoolReader, on its thread. Nothing in it is trusted. Only a file that shrinks while
// it is mapped crashes the reader; only its owner could do that.
#pragma once

#include "base/result.h"
#include "collector/wire/spool_format.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>

namespace sonde::recorder {

class SpoolMapping {
 public:
  enum class Access { ReadOnly, ReadWrite };

  // Fails as SpoolReader::open(), but does not look at the header.
  static Result<SpoolMapping> open(const std::filesystem::path& path, Access access);
  SpoolMapping(SpoolMapping&& other) noexcept;
  SpoolMapping& operator=(SpoolMapping&& other) noexcept;
  SpoolMapping(const SpoolMapping&) = delete;
  SpoolMapping& operator=(const SpoolMapping&) = delete;
  ~SpoolMapping();

  const std::filesystem::path& path() const noexcept { return path_; }
  bool isWritable() const noexcept { return writable_; }
  // Closes the file's descriptor. The mapped part can still be read.
  void closeFile() noexcept;

  // A page of the file's first slot, at its offset in bytes.
  template <typename Page>
  Page& page(std::size_t offset) const noexcept {
    return *reinterpret_cast<Page*>(base_ + offset);
  }
  const wire::FileHeader& header() const noexcept { return page<const wire::FileHeader>(0); }
  wire::SlotTable& table() const noexcept { return page<wire::SlotTable>(wire::kSlotTableOffset); }

  // The number of slots that the header announces and the mapping has; grows the mapping.
  std::uint32_t usableSlots();
  bool has(std::uint32_t index) const noexcept { return index < mappedBytes_ / wire::kSlotBytes; }
  // Requires: has(index).
  std::byte* slotBase(std::uint32_t index) const noexcept {
    return base_ + std::size_t{index} * wire::kSlotBytes;
  }
  wire::SlotHeader& slotHeader(std::uint32_t index) const noexcept {
    return *reinterpret_cast<wire::SlotHeader*>(slotBase(index));
  }

  // Reads bytes of a slot from the file. Not through the mapping: its pages would count as the
  // recorder's memory, and a disk error would raise SIGBUS. False: not all could be read.
  bool read(std::uint32_t index,
            std::size_t from,
            std::size_t bytes,
            std::byte* into) const noexcept;

 private:
  explicit SpoolMapping(std::filesystem::path path) : path_(std::move(path)) {}
  Result<void> map(Access access);
  void grow();

  std::filesystem::path path_;
  int fd_ = -1;
  bool writable_ = false;
  std::byte* base_ = nullptr;
  std::size_t mappedBytes_ = 0;
};

}  // namespace sonde::recorder
