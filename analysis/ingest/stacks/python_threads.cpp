#include "analysis/ingest/stacks/python_threads.h"

#include "analysis/ingest/stacks/code_symbols.h"
#include "collector/wire/python_layout.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace sonde::ingest {
namespace {

using wire::PythonEntry;
using wire::PythonLayout;

// Torn or wrong memory may form cycles.
constexpr int kMostInterpreters = 16;
constexpr int kMostThreads = 4096;
constexpr std::size_t kMostPlaces = 256;
constexpr std::size_t kMostHops = 4 * kMostPlaces;
constexpr std::size_t kFrameBytes = 72;
constexpr std::size_t kCodeBytes = 136;
constexpr std::uint64_t kMostCharacters = 400;

template <typename Value>
Value valueAt(const std::byte* bytes, std::size_t offset) noexcept {
  Value value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

struct Interpreter {
  const PythonLayout* layout = nullptr;
  std::uint64_t runtime = 0;   // address of _PyRuntime
  std::uint64_t codeType = 0;  // of PyCode_Type
  std::uint64_t textType = 0;  // of PyUnicode_Type
};

// Appends a code point as UTF-8.
void append(std::string& text, std::uint32_t point) {
  const auto more = [&](unsigned shift) {
    text += static_cast<char>(0x80U | (point >> shift & 0x3fU));
  };
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xc0U | point >> 6);
    more(0);
  } else if (point < 0x1'0000) {
    text += static_cast<char>(0xe0U | point >> 12);
    more(6);
    more(0);
  } else {
    text += static_cast<char>(0xf0U | (point >> 18 & 7U));
    more(12);
    more(6);
    more(0);
  }
}

// Reads the threads of one interpreter.
class ThreadReader {
 public:
  ThreadReader(const ForeignMemory& memory, const Interpreter& python)
      : memory_(memory), python_(python), layout_(*python.layout) {}

  std::map<std::int64_t, std::vector<PythonPlace>> read() {
    std::map<std::int64_t, std::vector<PythonPlace>> threads;
    std::uint64_t interpreter = 0;
    memory_.read(python_.runtime + layout_.interpreter, interpreter);
    for (int i = 0; interpreter != 0 && i < kMostInterpreters; ++i) {
      std::uint64_t thread = 0;
      memory_.read(interpreter + layout_.threads, thread);
      for (int each = 0; thread != 0 && each < kMostThreads; ++each) {
        std::uint64_t native = 0;
        if (!memory_.read(thread + layout_.nativeId, native))
          break;
        threads.emplace(static_cast<std::int64_t>(native), placesOf(thread));
        if (!memory_.read(thread + layout_.nextThread, thread))
          break;
      }
      if (!memory_.read(interpreter, interpreter))  // `next` comes first
        break;
    }
    return threads;
  }

 private:
  std::vector<PythonPlace> placesOf(std::uint64_t thread) {
    std::vector<PythonPlace> places;
    std::uint64_t frame = 0;
    memory_.read(thread + layout_.state, frame);
    if (frame != 0 && layout_.cframe >= 0 &&
        !memory_.read(frame + static_cast<std::uint64_t>(layout_.cframe), frame))
      return places;
    for (std::size_t hops = 0; frame != 0 && hops < kMostHops && places.size() < kMostPlaces;
         ++hops) {
      std::array<std::byte, kFrameBytes> bytes{};
      if (!memory_.read(frame, bytes) || !take(bytes.data(), places))
        break;
      frame = valueAt<std::uint64_t>(bytes.data(), layout_.caller);
    }
    return places;
  }

  // False: it is no frame.
  bool take(const std::byte* frame, std::vector<PythonPlace>& places) {
    const auto byte = valueAt<std::uint8_t>(frame, layout_.entryByte);
    if (layout_.entry == PythonEntry::Guard && byte == wire::kOwnedByCStack) {
      if (!places.empty())
        places.back().isEntry = true;
      return true;
    }
    std::array<std::byte, kCodeBytes> code{};
    if (!memory_.read(valueAt<std::uint64_t>(frame, layout_.code), code) ||
        valueAt<std::uint64_t>(code.data(), wire::kObjectType) != python_.codeType)
      return false;
    PythonPlace place;
    place.name = textAt(valueAt<std::uint64_t>(code.data(), layout_.name));
    place.path = textAt(valueAt<std::uint64_t>(code.data(), layout_.file));
    place.line = valueAt<std::uint32_t>(code.data(), layout_.line);
    place.isEntry =
        layout_.entry == PythonEntry::Every || (layout_.entry == PythonEntry::Flag && byte != 0);
    places.push_back(std::move(place));
    return true;
  }

  std::string textAt(std::uint64_t address) const {
    std::array<std::byte, 48> head{};
    std::string text;
    if (!memory_.read(address, head) ||
        valueAt<std::uint64_t>(head.data(), wire::kObjectType) != python_.textType)
      return text;
    const auto state = valueAt<std::uint32_t>(head.data(), wire::kTextState);
    const std::uint32_t width = state >> 2U & 7U;
    const bool isCompact = (state >> 5U & 1U) != 0;
    const bool isAscii = (state >> 6U & 1U) != 0;
    if (!isCompact || (width != 1 && width != 2 && width != 4))
      return text;
    const std::uint64_t length =
        std::min(valueAt<std::uint64_t>(head.data(), wire::kTextLength), kMostCharacters);
    std::vector<std::byte> characters(length * width);
    if (!memory_.read(address + (isAscii ? layout_.ascii : layout_.wide),
                      characters.data(),
                      characters.size()))
      return text;
    for (std::uint64_t i = 0; i < length; ++i) {
      std::uint32_t point = 0;
      std::memcpy(&point, characters.data() + i * width, width);
      append(text, point);
    }
    return text;
  }

  const ForeignMemory& memory_;
  const Interpreter& python_;
  const PythonLayout& layout_;
};

// "python3.11" or "libpython3.11.so.1.0": its minor version.
std::optional<int> minorOf(std::string_view file) {
  const std::size_t at = file.find("python3.");
  if (at == std::string_view::npos)
    return std::nullopt;
  int minor = 0;
  std::size_t digits = 0;
  for (const char each : file.substr(at + std::string_view("python3.").size())) {
    if (each < '0' || each > '9' || digits == 2)
      break;
    minor = 10 * minor + (each - '0');
    ++digits;
  }
  return digits > 0 ? std::optional(minor) : std::nullopt;
}

std::optional<Interpreter> interpreterIn(const CodeRange& range) {
  const std::filesystem::path path = range.path;
  const auto minor = minorOf(path.filename().string());
  if (!minor)
    return std::nullopt;
  const auto* const layout =
      std::find_if(std::begin(wire::kPythonLayouts),
                   std::end(wire::kPythonLayouts),
                   [&](const PythonLayout& each) { return each.minor == *minor; });
  if (layout == std::end(wire::kPythonLayouts) || layout->nativeId == 0)
    return std::nullopt;
  const auto file = CodeFile::open(path);
  if (!file)
    return std::nullopt;
  const auto own = (*file)->codeAddressAt(range.fileOffset);
  const auto runtime = objectAddress(path, "_PyRuntime");
  const auto code = objectAddress(path, "PyCode_Type");
  const auto text = objectAddress(path, "PyUnicode_Type");
  if (!own || !runtime || !code || !text)
    return std::nullopt;
  const std::uint64_t bias = range.start - *own;
  return Interpreter{layout, *runtime + bias, *code + bias, *text + bias};
}

}  // namespace

std::map<std::int64_t, std::vector<PythonPlace>> readPythonThreads(
    const ForeignMemory& memory, const std::vector<CodeRange>& code) {
  for (const CodeRange& range : code)
    if (const auto python = interpreterIn(range))
      return ThreadReader(memory, *python).read();
  return {};
}

}  // namespace sonde::ingest
