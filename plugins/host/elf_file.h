// A shared object as a file: what the loader would make of it, and the bytes of what it exports,
// without running any of its code. Nothing in the file is trusted. One thread.
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
  // InvalidArgument when it is no shared object for this machine, which says what it is; Io.
  static Result<ElfFile> open(const std::filesystem::path& path);
  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&&) = delete;
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  ~ElfFile();

  // The first bytes, at most `most`, of the object that it exports under this name, as they are in
  // the file. NotFound when it exports none; Unsupported when there are none in the file, because
  // they are made when it is loaded.
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
