// An ELF file with code of a process: the data for unwinding, and the names of its functions. Names
// come from its own symbols or from separate ones (by build id, .gnu_debuglink or .gnu_debugdata).
// Fetches nothing over the network.
//
// Addresses are the file's own, as in its program headers. Any thread.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sonde::ingest {

// A binary search table of .eh_frame_hdr: pairs of 32-bit numbers relative to the section.
struct UnwindTable {
  std::uint64_t section = 0;  // address of .eh_frame_hdr
  std::uint64_t entries = 0;  // address of the first pair
  std::uint64_t count = 0;
};

struct CodeFunction {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string name;  // the linker's name
};

class CodeFile {
 public:
  // NotFound or Io: it cannot be read. Unsupported: it is not an ELF file of this machine.
  static Result<std::shared_ptr<const CodeFile>> open(const std::filesystem::path& path);
  // The same for the kernel's vdso, from memory that must outlive it. `name` is for messages.
  static Result<std::shared_ptr<const CodeFile>> ofImage(std::span<const std::byte> image,
                                                         const std::string& name);
  ~CodeFile();
  CodeFile(const CodeFile&) = delete;
  CodeFile& operator=(const CodeFile&) = delete;

  const std::string& buildId() const noexcept { return buildId_; }  // hexadecimal; empty: none
  // The address of the code at this offset of the file; unset if no executable segment loads it.
  std::optional<std::uint64_t> codeAddressAt(std::uint64_t fileOffset) const noexcept;
  // Copies the file's content for `address`; for a writable segment the initial content.
  bool read(std::uint64_t address, std::span<std::byte> out) const noexcept;
  const std::optional<UnwindTable>& unwindTable() const noexcept { return unwindTable_; }
  // The begin of the stretch of code with `address` by that table: a function, or a part of one.
  std::optional<std::uint64_t> unwindEntryAt(std::uint64_t address) const;
  // The function that contains `address`; nullptr if there is no symbol for it.
  const CodeFunction* functionAt(std::uint64_t address) const;

 private:
  struct Segment {
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    bool isCode = false;
  };

  CodeFile() = default;
  static Result<std::shared_ptr<const CodeFile>> parse(std::unique_ptr<CodeFile> file,
                                                       const std::string& name);
  bool readHeaders();
  std::optional<UnwindTable> findUnwindTable(std::uint64_t header) const;
  void readFunctions() const;

  std::filesystem::path path_;  // empty: from an image
  std::span<const std::byte> image_;
  bool mapped_ = false;
  std::string buildId_;
  std::vector<Segment> segments_;
  std::optional<UnwindTable> unwindTable_;
  mutable std::once_flag functionsRead_;
  mutable std::vector<CodeFunction> functions_;  // by address
};

}  // namespace sonde::ingest
