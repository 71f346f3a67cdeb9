#include "analysis/ingest/stacks/code_map.h"

#include <sys/auxv.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <mutex>

namespace sonde::ingest {
namespace {

std::uint64_t takeHex(std::string_view& text) {
  std::uint64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value, 16).ptr;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::string_view takeWord(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

// "start-end perms offset device inode   path"; all numbers except the inode are hexadecimal.
std::optional<CodeRange> parseLine(std::string_view line) {
  CodeRange range;
  range.start = takeHex(line);
  if (!line.starts_with('-'))
    return std::nullopt;
  line.remove_prefix(1);
  range.end = takeHex(line);
  if (takeWord(line).find('x') == std::string_view::npos || range.end <= range.start)
    return std::nullopt;
  std::string_view offset = takeWord(line);
  range.fileOffset = takeHex(offset);
  takeWord(line);
  takeWord(line);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  range.path = line;
  return range;
}

// The page of code that the kernel maps into every process, taken from this process.
std::shared_ptr<const CodeFile> vdso(std::uint64_t bytes) {
  const auto* at = std::bit_cast<const std::byte*>(::getauxval(AT_SYSINFO_EHDR));
  if (at == nullptr)
    return nullptr;
  auto file = CodeFile::ofImage(std::span(at, bytes), "[vdso]");
  return file ? *file : nullptr;
}

// Shares files between all processes of a recording, most of which have the same ones. A file lives
// as long as a map uses it.
std::shared_ptr<const CodeFile> openOnce(const CodeRange& range) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const CodeFile>, std::less<>> files;
  const std::lock_guard lock(mutex);
  std::weak_ptr<const CodeFile>& known = files[range.path];
  if (auto file = known.lock())
    return file;
  if (range.path == "[vdso]") {
    auto file = vdso(range.end - range.start);
    known = file;
    return file;
  }
  if (!range.path.starts_with('/'))
    return nullptr;
  auto file = CodeFile::open(range.path);
  if (!file)
    return nullptr;
  known = *file;
  return *file;
}

bool isSame(const CodeRange& a, const CodeRange& b) {
  return a.start == b.start && a.end == b.end && a.fileOffset == b.fileOffset && a.path == b.path;
}

}  // namespace

std::vector<CodeRange> parseMaps(std::string_view lines) {
  std::vector<CodeRange> ranges;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (auto range = parseLine(line))
      ranges.push_back(std::move(*range));
  }
  return ranges;
}

std::vector<CodeRange> CodeMap::update(std::vector<CodeRange> seen) {
  std::vector<CodeRange> fresh;
  for (CodeRange& range : seen) {
    const auto first =
        std::partition_point(entries_.begin(), entries_.end(), [&](const Entry& one) {
          return one.code.range.end <= range.start;
        });
    if (first != entries_.end() && isSame(first->code.range, range))
      continue;
    const auto last = std::partition_point(
        first, entries_.end(), [&](const Entry& one) { return one.code.range.start < range.end; });
    const auto place = entries_.erase(first, last);
    fresh.push_back(range);
    entries_.insert(place, Entry{{std::move(range), nullptr, 0}, false});
  }
  return fresh;
}

const MappedCode* CodeMap::find(std::uint64_t address) {
  const auto found = std::partition_point(entries_.begin(), entries_.end(), [&](const Entry& one) {
    return one.code.range.end <= address;
  });
  if (found == entries_.end() || address < found->code.range.start)
    return nullptr;
  if (!found->opened) {
    found->opened = true;
    MappedCode& code = found->code;
    code.file = openOnce(code.range);
    const auto own =
        code.file == nullptr ? std::nullopt : code.file->codeAddressAt(code.range.fileOffset);
    if (own)
      code.bias = code.range.start - *own;
    else
      code.file = nullptr;
  }
  return &found->code;
}

}  // namespace sonde::ingest
