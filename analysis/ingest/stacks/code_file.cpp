#include "analysis/ingest/stacks/code_file.h"

#include "analysis/ingest/stacks/code_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace sonde::ingest {
namespace {

template <typename T>
std::optional<T> load(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes)
    text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + 3) / 4 * 4;
}

// The build id in a PT_NOTE segment's notes; empty if there is none.
std::string buildIdAmong(std::span<const std::byte> notes) {
  while (const auto note = load<Elf64_Nhdr>(notes, 0)) {
    const std::uint64_t name = sizeof *note;
    const std::uint64_t content = name + padded(note->n_namesz);
    const std::uint64_t end = content + padded(note->n_descsz);
    if (content + note->n_descsz > notes.size())
      break;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof ELF_NOTE_GNU &&
        std::memcmp(notes.data() + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0)
      return hex(notes.subspan(content, note->n_descsz));
    if (end >= notes.size())
      break;
    notes = notes.subspan(end);
  }
  return {};
}

Result<std::span<const std::byte>> mapped(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return Error{errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                 fmt::format("{}: {}", path.native(), std::strerror(errno))};
  struct stat info {};
  void* at = MAP_FAILED;
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
    at = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  ::close(fd);
  if (at == MAP_FAILED)
    return Error{ErrorCode::Unsupported, path.native() + ": the file cannot be mapped"};
  return std::span(static_cast<const std::byte*>(at), static_cast<std::size_t>(info.st_size));
}

}  // namespace

Result<std::shared_ptr<const CodeFile>> CodeFile::open(const std::filesystem::path& path) {
  std::unique_ptr<CodeFile> file(new CodeFile());
  SONDE_TRY_ASSIGN(file->image_, mapped(path));
  file->mapped_ = true;
  file->path_ = path;
  return parse(std::move(file), path.native());
}

Result<std::shared_ptr<const CodeFile>> CodeFile::ofImage(std::span<const std::byte> image,
                                                          const std::string& name) {
  std::unique_ptr<CodeFile> file(new CodeFile());
  file->image_ = image;
  return parse(std::move(file), name);
}

Result<std::shared_ptr<const CodeFile>> CodeFile::parse(std::unique_ptr<CodeFile> file,
                                                        const std::string& name) {
  if (!file->readHeaders())
    return Error{ErrorCode::Unsupported, name + ": it is not an ELF file of this machine"};
  return std::shared_ptr<const CodeFile>(std::move(file));
}

CodeFile::~CodeFile() {
  if (mapped_)
    ::munmap(const_cast<std::byte*>(image_.data()), image_.size());
}

bool CodeFile::readHeaders() {
  const auto header = load<Elf64_Ehdr>(image_, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return false;
  std::optional<std::uint64_t> unwindHeader;
  for (unsigned at = 0; at < header->e_phnum; ++at) {
    const auto part = load<Elf64_Phdr>(image_, header->e_phoff + at * sizeof(Elf64_Phdr));
    if (!part || part->p_offset > image_.size())
      return false;
    const std::uint64_t bytes = std::min(part->p_filesz, image_.size() - part->p_offset);
    if (part->p_type == PT_LOAD)
      segments_.push_back({part->p_vaddr, part->p_offset, bytes, (part->p_flags & PF_X) != 0});
    if (part->p_type == PT_NOTE && buildId_.empty())
      buildId_ = buildIdAmong(image_.subspan(part->p_offset, bytes));
    if (part->p_type == PT_GNU_EH_FRAME)
      unwindHeader = part->p_vaddr;
  }
  if (unwindHeader)
    unwindTable_ = findUnwindTable(*unwindHeader);
  return !segments_.empty();
}

// The layout is that of the Linux Standard Base, "The .eh_frame_hdr section".
std::optional<UnwindTable> CodeFile::findUnwindTable(std::uint64_t header) const {
  constexpr std::uint8_t kUdata4 = 0x03;
  constexpr std::uint8_t kSdata4OfSection = 0x3b;
  constexpr std::uint8_t kSdata4OfPlace = 0x1b;
  struct Header {
    std::uint8_t version, frameEncoding, countEncoding, tableEncoding;
    std::int32_t frame;
    std::uint32_t count;
  };
  Header found{};
  if (!read(header, std::as_writable_bytes(std::span(&found, 1))) || found.version != 1 ||
      found.frameEncoding != kSdata4OfPlace || found.countEncoding != kUdata4 ||
      found.tableEncoding != kSdata4OfSection)
    return std::nullopt;
  return UnwindTable{header, header + sizeof(Header), found.count};
}

std::optional<std::uint64_t> CodeFile::codeAddressAt(std::uint64_t fileOffset) const noexcept {
  for (const Segment& segment : segments_) {
    // The kernel maps whole pages, so a little before and behind belongs to it. mold and lld let
    // the code begin in the page of the file where the previous segment ends.
    const std::uint64_t begin = segment.offset & ~std::uint64_t{0xfff};
    if (segment.isCode && fileOffset >= begin && fileOffset < segment.offset + segment.bytes)
      return segment.address - segment.offset + fileOffset;
  }
  return std::nullopt;
}

bool CodeFile::read(std::uint64_t address, std::span<std::byte> out) const noexcept {
  for (const Segment& segment : segments_) {
    if (address < segment.address || address - segment.address > segment.bytes ||
        segment.bytes - (address - segment.address) < out.size())
      continue;
    std::memcpy(
        out.data(), image_.data() + segment.offset + (address - segment.address), out.size());
    return true;
  }
  return false;
}

std::optional<std::uint64_t> CodeFile::unwindEntryAt(std::uint64_t address) const {
  if (!unwindTable_)
    return std::nullopt;
  const auto entry = [&](std::uint64_t at) -> std::optional<std::uint64_t> {
    std::int32_t offset = 0;
    if (!read(unwindTable_->entries + at * 8, std::as_writable_bytes(std::span(&offset, 1))))
      return std::nullopt;
    return unwindTable_->section + static_cast<std::uint64_t>(std::int64_t{offset});
  };
  std::uint64_t first = 0;
  std::uint64_t last = unwindTable_->count;
  while (first < last) {
    const std::uint64_t middle = first + (last - first) / 2;
    const auto begin = entry(middle);
    if (!begin)
      return std::nullopt;
    if (*begin <= address)
      first = middle + 1;
    else
      last = middle;
  }
  return first == 0 ? std::nullopt : entry(first - 1);
}

void CodeFile::readFunctions() const {
  functions_ = path_.empty() ? symbolsOf(image_) : symbolsOf(path_);
}

const CodeFunction* CodeFile::functionAt(std::uint64_t address) const {
  std::call_once(functionsRead_, [this] { readFunctions(); });
  auto after = std::upper_bound(
      functions_.begin(), functions_.end(), address, [](std::uint64_t at, const CodeFunction& one) {
        return at < one.begin;
      });
  if (after == functions_.begin() || address >= (after - 1)->end)
    return nullptr;
  return &*(after - 1);
}

}  // namespace sonde::ingest
