#include "collector/preload/stack/interposer/python_names.h"

#include <string.h>

#include <atomic>

namespace sonde::preload::stack {
namespace {

constinit const wire::PythonLayout* gLayout = nullptr;
constinit std::uint64_t gTextType = 0;
constinit Intern gIntern = nullptr;

// One place of the cache: a sequence lock whose writer does not wait.
struct Place {
  std::atomic<std::uint32_t> turn;  // odd: being written
  std::atomic<std::uint32_t> line;
  std::atomic<std::uint64_t> address;
  std::atomic<std::uint64_t> name;
  std::atomic<std::uint64_t> file;
  std::atomic<std::uint64_t> ids;  // name << 32 | file
};
constexpr std::size_t kPlaces = 4096;
constinit Place gPlaces[kPlaces];

constexpr auto kRelaxed = std::memory_order_relaxed;

bool find(const Place& place, const CodeObject& code, CodeNames& names) noexcept {
  const std::uint32_t turn = place.turn.load(std::memory_order_acquire);
  const bool same =
      place.address.load(kRelaxed) == code.address && place.name.load(kRelaxed) == code.name &&
      place.file.load(kRelaxed) == code.file && place.line.load(kRelaxed) == code.line;
  const std::uint64_t ids = place.ids.load(kRelaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (!same || (turn & 1U) != 0 || place.turn.load(kRelaxed) != turn)
    return false;
  names = {static_cast<std::uint32_t>(ids >> 32U), static_cast<std::uint32_t>(ids)};
  return true;
}

void remember(Place& place, const CodeObject& code, const CodeNames& names) noexcept {
  std::uint32_t turn = place.turn.load(kRelaxed);
  if ((turn & 1U) != 0 ||
      !place.turn.compare_exchange_strong(turn, turn + 1, std::memory_order_acquire))
    return;
  std::atomic_thread_fence(std::memory_order_release);
  place.address.store(code.address, kRelaxed);
  place.name.store(code.name, kRelaxed);
  place.file.store(code.file, kRelaxed);
  place.line.store(code.line, kRelaxed);
  place.ids.store(std::uint64_t{names.name} << 32U | names.file, kRelaxed);
  place.turn.store(turn + 2, std::memory_order_release);
}

std::size_t encode(std::uint32_t point, char* to) noexcept {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  if (point < 0x80) {
    to[0] = byte(point);
    return 1;
  }
  const std::size_t more = point < 0x800 ? 1 : point < 0x1'0000 ? 2 : 3;
  constexpr std::uint32_t kFirst[] = {0, 0xc0, 0xe0, 0xf0};
  to[0] = byte(kFirst[more] | point >> 6 * more);
  for (std::size_t i = 1; i <= more; ++i)
    to[i] = byte(0x80U | (point >> 6 * (more - i) & 0x3fU));
  return more + 1;
}

// Keeps only this many of the last characters, which identify a path best.
constexpr std::uint64_t kMostCharacters = 200;

std::uint32_t textAt(std::uint64_t address, const OwnMemory& memory) noexcept {
  struct {
    std::uint64_t references;
    std::uint64_t type;
    std::uint64_t length;
    std::uint64_t hash;
    std::uint32_t state;
    std::uint32_t padding;
  } head;
  static_assert(offsetof(decltype(head), type) == wire::kObjectType &&
                offsetof(decltype(head), length) == wire::kTextLength &&
                offsetof(decltype(head), state) == wire::kTextState);
  if (!memory.read(address, &head, sizeof head) || head.type != gTextType)
    return 0;
  const std::uint32_t width = head.state >> 2U & 7U;
  const bool isCompact = (head.state >> 5U & 1U) != 0;
  const bool isAscii = (head.state >> 6U & 1U) != 0;
  if (!isCompact || (width != 1 && width != 2 && width != 4))
    return 0;
  const std::uint64_t begin = address + (isAscii ? gLayout->ascii : gLayout->wide);
  char text[4 * kMostCharacters];
  std::size_t bytes = 0;
  std::uint64_t from = head.length > kMostCharacters ? head.length - kMostCharacters : 0;
  while (from < head.length) {
    char piece[64];
    const std::uint64_t left = head.length - from;
    const std::uint64_t count = left < sizeof piece / width ? left : sizeof piece / width;
    if (!memory.read(begin + from * width, piece, count * width))
      return 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint32_t point = 0;
      memcpy(&point, piece + i * width, width);
      bytes += encode(point, text + bytes);
    }
    from += count;
  }
  return gIntern(text, bytes);
}

}  // namespace

void prepareNames(const wire::PythonLayout& layout,
                  std::uint64_t textType,
                  Intern intern) noexcept {
  gLayout = &layout;
  gTextType = textType;
  gIntern = intern;
}

CodeNames namesOf(const CodeObject& code, const OwnMemory& memory) noexcept {
  Place& place = gPlaces[(code.address >> 4U) * 0x9e37'79b9'7f4a'7c15 >> 52U];
  static_assert(kPlaces == 1U << 12U);
  CodeNames names;
  if (find(place, code, names))
    return names;
  names = {textAt(code.name, memory), textAt(code.file, memory)};
  if (names.name != 0)
    remember(place, code, names);
  return names;
}

}  // namespace sonde::preload::stack
