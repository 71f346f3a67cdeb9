#include "collector/core/plugins.h"

#include "collector/core/capture.h"
#include "collector/core/definitions.h"
#include "collector/core/platform/clock.h"
#include "collector/core/record_place.h"
#include "collector/core/spool.h"
#include "collector/core/stack_events.h"
#include "collector/core/thread_state.h"

namespace sonde::core {
namespace {

using wire::PluginCall;
using wire::PluginMistake;
using wire::Probe;
using wire::RecordKind;
using wire::SliceKind;

// An event: its thread, so that another thread's token is invalid here, and the token or, with
// kRecord set, the number of its record.
constexpr PluginEvent kRecord = PluginEvent{1} << 63;
constexpr int kThreadShift = 43;
constexpr PluginEvent kNumberMask = (PluginEvent{1} << kThreadShift) - 1;
constexpr PluginEvent kThreadMask = ~(kRecord | kNumberMask);

constexpr std::uint64_t kLongestTicks = std::uint64_t{1} << 58;  // years
constexpr std::uint32_t kTextQuarters = 3;  // plugins may fill this share of the table of strings

struct Plugin {
  std::uint32_t name;
  std::uint32_t category;
  std::uint32_t version;
};

// Constant once gPluginCount includes them.
Plugin gPlugins[wire::kMaxPlugins];
std::atomic<std::uint32_t> gPluginCount{0};
std::uint64_t gSince = 0;  // when the first was taken in, in ticks

// plugin << 48 | name << 24 | unit, by id less one; 0: free.
std::atomic<std::uint64_t> gCounters[kMaxPluginCounters];

constexpr bool isText(std::uint32_t id) noexcept {
  constexpr std::uint32_t kMostTexts = 1 << 16;
  return id != 0 && id < kMostTexts;
}

constexpr bool mayRecord(std::uint32_t kind) noexcept {
  switch (static_cast<SliceKind>(kind)) {
    case SliceKind::Phase:
    case SliceKind::Operation:
    case SliceKind::DataLoad:
    case SliceKind::Checkpoint:
    case SliceKind::Evaluation:
    case SliceKind::Operator:
    case SliceKind::Api:
    case SliceKind::Io:
    case SliceKind::Wait:
      return kind <= 0xff;
    default:
      return false;
  }
}

PluginEvent here(const ThreadState* state) noexcept {
  return PluginEvent{state->thread} << kThreadShift & kThreadMask;
}

PluginEvent recordEvent(std::uint64_t number) noexcept {
  return number == 0 ? 0 : kRecord | here(tState) | (number & kNumberMask);
}

bool definePlugin(Spool& spool, std::uint32_t index) noexcept {
  auto* definition = reinterpret_cast<wire::PluginDefinition*>(
      claimDefinition(spool, wire::DefinitionKind::Plugin, sizeof(wire::PluginDefinition)));
  if (definition == nullptr)
    return false;
  const Plugin& plugin = gPlugins[index];
  definition->name = plugin.name;
  definition->category = plugin.category;
  definition->version = plugin.version;
  definition->number = static_cast<std::uint8_t>(index + 1);
  commitDefinition(&definition->header);
  return true;
}

bool defineCounter(Spool& spool, std::uint32_t index) noexcept {
  auto* definition = reinterpret_cast<wire::CounterDefinition*>(
      claimDefinition(spool, wire::DefinitionKind::Counter, sizeof(wire::CounterDefinition)));
  if (definition == nullptr)
    return false;
  const std::uint64_t key = gCounters[index].load(std::memory_order_relaxed);
  definition->id = index + 1;
  definition->name = static_cast<std::uint32_t>(key >> 24 & 0xff'ffff);
  definition->unit = static_cast<std::uint32_t>(key & 0xff'ffff);
  definition->plugin = static_cast<std::uint8_t>(key >> 48);
  commitDefinition(&definition->header);
  return true;
}

bool isRefused(bool mistaken,
               std::uint8_t plugin,
               PluginCall call,
               PluginMistake mistake) noexcept {
  if (__builtin_expect(mistaken, 0))
    countMisuse(plugin, call, mistake);
  return mistaken;
}

// The plugin's mistake in the scope that it passed; Count: no mistake.
PluginMistake mistakeOf(std::uint8_t plugin, PluginEvent scope, OpenScopeState& state) noexcept {
  state = scopeState(static_cast<std::uint32_t>(scope), Probe::Plugin, plugin);
  if (state == OpenScopeState::Inherited)
    return PluginMistake::Count;
  if (state == OpenScopeState::NotOpen || !isCurrent(tState) ||
      (scope & kThreadMask) != here(tState))
    return PluginMistake::NotOpen;
  return state == OpenScopeState::Foreign ? PluginMistake::NotItsOwn : PluginMistake::Count;
}

}  // namespace

std::uint8_t addPlugin(std::uint32_t name, std::uint32_t category, std::uint32_t version) noexcept {
  const std::uint32_t index = gPluginCount.load(std::memory_order_relaxed);
  if (index == wire::kMaxPlugins || !attached())
    return 0;
  if (index == 0)
    gSince = readTicks();
  gPlugins[index] = {name, category, version};
  const WriteMark mark;
  if (!definePlugin(gSpool, index))
    return 0;
  gPluginCount.store(index + 1, std::memory_order_release);
  return static_cast<std::uint8_t>(index + 1);
}

std::uint32_t pluginText(std::uint8_t plugin, const char* text, std::size_t length) noexcept {
  if (isRefused(text == nullptr, plugin, PluginCall::Intern, PluginMistake::NullPointer) ||
      isRefused(length > wire::kMaxStringBytes, plugin, PluginCall::Intern, PluginMistake::TooLong))
    return 0;
  const std::uint32_t id = internWithin(kTextQuarters, text, length);
  isRefused(id == 0 && length != 0 && attached() && !isFull(gSpool),
            plugin,
            PluginCall::Intern,
            PluginMistake::TooMany);
  return id;
}

PluginEvent pluginBegin(std::uint8_t plugin, std::uint32_t kind, std::uint32_t name) noexcept {
  if (isRefused(!mayRecord(kind), plugin, PluginCall::Begin, PluginMistake::UnknownKind) ||
      isRefused(!isText(name), plugin, PluginCall::Begin, PluginMistake::UnknownName))
    return 0;
  const std::uint32_t token = beginScope(static_cast<SliceKind>(kind), name, Probe::Plugin, plugin);
  return token == 0 ? 0 : here(tState) | token;
}

void pluginEnd(std::uint8_t plugin, PluginEvent scope) noexcept {
  if (scope == 0 ||
      isRefused((scope & kRecord) != 0, plugin, PluginCall::End, PluginMistake::NotOpen))
    return;
  OpenScopeState state{};
  const PluginMistake mistake = mistakeOf(plugin, scope, state);
  if (!isRefused(mistake != PluginMistake::Count, plugin, PluginCall::End, mistake) &&
      state == OpenScopeState::Own)
    endScope(static_cast<std::uint32_t>(scope));
}

PluginEvent pluginCall(std::uint8_t plugin,
                       std::uint32_t kind,
                       std::uint32_t name,
                       std::uint64_t beginTicks,
                       std::uint64_t endTicks) noexcept {
  const bool inTime =
      beginTicks >= gSince && beginTicks <= endTicks && endTicks - gSince < kLongestTicks;
  if (isRefused(!mayRecord(kind), plugin, PluginCall::Call, PluginMistake::UnknownKind) ||
      isRefused(!isText(name), plugin, PluginCall::Call, PluginMistake::UnknownName) ||
      isRefused(!inTime, plugin, PluginCall::Call, PluginMistake::BadTime) ||
      !enabled(Probe::Plugin) || !isFull())
    return 0;
  const wire::Call record{{0, RecordKind::Count, static_cast<std::uint8_t>(kind), name},
                          beginTicks,
                          endTicks,
                          Probe::Plugin,
                          wire::CodeCategory::None,
                          plugin,
                          {}};
  const std::uint64_t number = emit(record, RecordKind::Call, Probe::Plugin);
  if (static_cast<SliceKind>(kind) == SliceKind::Wait)
    stackAt(wire::StackRule::kAtBlock, beginTicks, endTicks);
  return recordEvent(number);
}

PluginEvent pluginMark(std::uint8_t plugin, std::uint32_t name) noexcept {
  if (isRefused(!isText(name), plugin, PluginCall::Mark, PluginMistake::UnknownName) ||
      !enabled(Probe::Plugin) || !isFull())
    return 0;
  const wire::Mark record{{0, RecordKind::Count, 0, name}, readTicks(), Probe::Plugin, plugin, {}};
  return recordEvent(emit(record, RecordKind::Mark, Probe::Plugin));
}

std::uint32_t pluginCounter(std::uint8_t plugin, std::uint32_t name, std::uint32_t unit) noexcept {
  if (isRefused(!isText(name) || (unit != 0 && !isText(unit)),
                plugin,
                PluginCall::Counter,
                PluginMistake::UnknownName) ||
      !attached())
    return 0;
  const std::uint64_t key =
      std::uint64_t{plugin} << 48 | std::uint64_t{name} << 24 | std::uint64_t{unit};
  for (std::uint32_t index = 0; index < kMaxPluginCounters; ++index) {
    std::uint64_t found = gCounters[index].load(std::memory_order_relaxed);
    if (found == 0)
      gCounters[index].compare_exchange_strong(found, key, std::memory_order_relaxed);
    if (found != 0 && found != key)
      continue;
    // Also for an existing counter: the thread that added it may not have defined it yet.
    const WriteMark mark;
    if (defineCounter(gSpool, index))
      return index + 1;
    countLoss(Probe::Plugin, RecordKind::CounterValue, whyNoRoom(gSpool));
    return 0;
  }
  countMisuse(plugin, PluginCall::Counter, PluginMistake::TooMany);
  return 0;
}

void pluginValue(std::uint8_t plugin, std::uint32_t counter, double value) noexcept {
  const bool isOwn = counter != 0 && counter <= kMaxPluginCounters &&
                     gCounters[counter - 1].load(std::memory_order_relaxed) >> 48 == plugin;
  if (isRefused(!isOwn, plugin, PluginCall::Value, PluginMistake::UnknownCounter) ||
      isRefused(!__builtin_isfinite(value), plugin, PluginCall::Value, PluginMistake::NotFinite) ||
      !enabled(Probe::Plugin))
    return;
  const wire::CounterValue record{{0, RecordKind::Count, 0, counter}, readTicks(), value};
  emit(record, RecordKind::CounterValue, Probe::Plugin);
}

void pluginArgument(std::uint8_t plugin,
                    PluginEvent of,
                    std::uint32_t key,
                    wire::ArgType type,
                    std::uint64_t bits) noexcept {
  if (of == 0 || isRefused(!isText(key), plugin, PluginCall::Argument, PluginMistake::UnknownName))
    return;
  const bool isRecord = (of & kRecord) != 0;
  OpenScopeState state{};
  const bool isLast = isRecord && isCurrent(tState) && (of & kThreadMask) == here(tState) &&
                      (tState->records & kNumberMask) == (of & kNumberMask);
  const PluginMistake mistake = !isRecord ? mistakeOf(plugin, of, state)
                                : isLast  ? PluginMistake::Count
                                          : PluginMistake::NotTheLast;
  if (isRefused(mistake != PluginMistake::Count, plugin, PluginCall::Argument, mistake) ||
      (!isRecord && state != OpenScopeState::Own))
    return;
  emitArgument(
      isRecord ? ArgOwner{0, tState->records} : ArgOwner{static_cast<std::uint32_t>(of), 0},
      key,
      type,
      bits);
}

void pluginNote(std::uint8_t plugin, std::uint32_t severity, std::uint32_t text) noexcept {
  constexpr std::uint32_t kError = 3;
  if (isRefused(!isText(text), plugin, PluginCall::Note, PluginMistake::UnknownName) ||
      isRefused(
          severity == 0 || severity > kError, plugin, PluginCall::Note, PluginMistake::UnknownKind))
    return;
  const wire::Note record{{0, RecordKind::Count, static_cast<std::uint8_t>(severity), text},
                          readTicks(),
                          Probe::Plugin,
                          plugin,
                          {}};
  emit(record, RecordKind::Note, Probe::Plugin);
}

[[gnu::cold, gnu::noinline]] void countMisuse(std::uint8_t plugin,
                                              PluginCall call,
                                              PluginMistake mistake) noexcept {
  if (attached() && plugin <= wire::kMaxPlugins)
    gSpool.pluginLoss->count[plugin][static_cast<int>(call)][static_cast<int>(mistake)].fetch_add(
        1, std::memory_order_relaxed);
}

void adoptPlugins(Spool& spool) noexcept {
  const std::uint32_t plugins = gPluginCount.load(std::memory_order_acquire);
  for (std::uint32_t index = 0; index < plugins; ++index)
    definePlugin(spool, index);
  for (std::uint32_t index = 0; index < kMaxPluginCounters; ++index) {
    if (gCounters[index].load(std::memory_order_relaxed) == 0)
      return;
    defineCounter(spool, index);
  }
}

}  // namespace sonde::core
