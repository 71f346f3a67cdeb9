// A shared object as a file: its load layout and the bytes of its exported objects, read without
// running any of its code. Nothing in the file is trusted. One thread.
#pragma once

#include "base/result.h"

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sonde::plugins {

class ElfFile {
 public:
  // InvalidArgument: not a shared object for this machine; the message says what it is. Io.
  static Result<ElfFile> open(const std::filesystem::path& path);
  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&&) = delete;
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  ~ElfFile();

  // Returns the first bytes, at most `most`, of the object that it exports under this name, as
  // stored in the file. NotFound: it exports no such object. Unsupported: the file has no bytes for
  // it, because they are created when it is loaded.
  Result<std::vector<std::byte>> exported(const std::string& name, std::size_t most) const;

 private:
  explicit ElfFile(int fd) noexcept : fd_(fd) {}
  Result<void> readHeader();
  template <typename T>
  bool read(std::uint64_t offset, T& value) const;
  bool readBytes(std::uint64_t offset, void* to, std::size_t bytes) const;
  Result<Elf64_Sym> symbol(const std::string& name) const;
  bool findSection(std::uint32_t type, Elf64_Shdr& section) const;
  bool hasName(const Elf64_Shdr& strings, std::uint32_t at, const std::string& name) const;

  int fd_ = -1;
  Elf64_Ehdr header_{};
};

}  // namespace sonde::plugins
