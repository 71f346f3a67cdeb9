#include "collector/preload/plugin/interposer/host_table.h"

#include <string.h>

#include <atomic>

namespace sonde::preload::plugin {
namespace {

using wire::PluginCall;
using wire::PluginMistake;

constexpr std::uint32_t kMaxNotes = 100;

struct Host {
  sonde_plugin_host table;
  std::atomic<bool> isOpen;
  std::atomic<std::uint32_t> notes;
};

constinit Host gHosts[wire::kMaxPlugins] = {};
const Hooks* gHooks = nullptr;

// Returns the index (number - 1) of the plugin that owns this table. kMaxPlugins: no plugin's; this
// is counted.
std::uintptr_t indexOf(const sonde_plugin_host* table, PluginCall call) noexcept {
  const auto offset =
      reinterpret_cast<std::uintptr_t>(table) - reinterpret_cast<std::uintptr_t>(gHosts);
  const std::uintptr_t index = offset / sizeof(Host);
  if (__builtin_expect(index < wire::kMaxPlugins && offset % sizeof(Host) == 0, 1))
    return index;
  if (gHooks != nullptr)
    gHooks->misuse(0, call, PluginMistake::NullPointer);
  return wire::kMaxPlugins;
}

bool isOpen(std::uintptr_t index) noexcept {
  return __builtin_expect(gHosts[index].isOpen.load(std::memory_order_relaxed), 1);
}

// Returns the number of the plugin that owns this table, if it may record. 0: it may not; this is
// counted.
std::uint8_t numberOf(const sonde_plugin_host* table, PluginCall call) noexcept {
  const std::uintptr_t index = indexOf(table, call);
  if (__builtin_expect(index == wire::kMaxPlugins, 0))
    return 0;
  const auto number = static_cast<std::uint8_t>(index + 1);
  if (isOpen(index))
    return number;
  gHooks->misuse(number, call, PluginMistake::NotActive);
  return 0;
}

// The same, but without counting a mistake: a query is none.
bool mayRecord(const sonde_plugin_host* table) noexcept {
  const std::uintptr_t index = indexOf(table, PluginCall::Other);
  return index != wire::kMaxPlugins && isOpen(index);
}

// Returns the id of a zero-terminated text; 0: no id, counted for `call`.
std::uint32_t textOf(std::uint8_t number, const char* text, PluginCall call) noexcept {
  if (text == nullptr) {
    gHooks->misuse(number, call, PluginMistake::NullPointer);
    return 0;
  }
  const std::size_t length = strnlen(text, wire::kMaxStringBytes + 1);
  if (length > wire::kMaxStringBytes) {
    gHooks->misuse(number, call, PluginMistake::TooLong);
    return 0;
  }
  return gHooks->text(number, text, length);
}

std::uint32_t intern(const sonde_plugin_host* host, const char* text, std::size_t length) {
  const std::uint8_t number = numberOf(host, PluginCall::Intern);
  return number == 0 ? 0 : gHooks->text(number, text, length);
}

int enabled(const sonde_plugin_host* host) {
  return mayRecord(host) && gHooks->enabled() ? 1 : 0;
}

std::uint64_t now(const sonde_plugin_host* host) {
  return mayRecord(host) ? gHooks->ticks() : 0;
}

sonde_plugin_event begin(const sonde_plugin_host* host, std::uint32_t kind, std::uint32_t name) {
  const std::uint8_t number = numberOf(host, PluginCall::Begin);
  return number == 0 ? 0 : gHooks->begin(number, kind, name);
}

void end(const sonde_plugin_host* host, sonde_plugin_event scope) {
  if (const std::uint8_t number = numberOf(host, PluginCall::End); number != 0)
    gHooks->end(number, scope);
}

sonde_plugin_event call(const sonde_plugin_host* host,
                        std::uint32_t kind,
                        std::uint32_t name,
                        std::uint64_t beginTicks,
                        std::uint64_t endTicks) {
  const std::uint8_t number = numberOf(host, PluginCall::Call);
  return number == 0 ? 0 : gHooks->call(number, kind, name, beginTicks, endTicks);
}

sonde_plugin_event mark(const sonde_plugin_host* host, std::uint32_t name) {
  const std::uint8_t number = numberOf(host, PluginCall::Mark);
  return number == 0 ? 0 : gHooks->mark(number, name);
}

void argumentInt(const sonde_plugin_host* host,
                 sonde_plugin_event of,
                 std::uint32_t key,
                 std::int64_t value) {
  if (const std::uint8_t number = numberOf(host, PluginCall::Argument); number != 0)
    gHooks->argument(number, of, key, wire::ArgType::Int, static_cast<std::uint64_t>(value));
}

void argumentDouble(const sonde_plugin_host* host,
                    sonde_plugin_event of,
                    std::uint32_t key,
                    double value) {
  std::uint64_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  if (const std::uint8_t number = numberOf(host, PluginCall::Argument); number != 0)
    gHooks->argument(number, of, key, wire::ArgType::Double, bits);
}

void argumentText(const sonde_plugin_host* host,
                  sonde_plugin_event of,
                  std::uint32_t key,
                  const char* text,
                  std::size_t length) {
  const std::uint8_t number = numberOf(host, PluginCall::Argument);
  if (number == 0 || of == 0)
    return;
  const std::uint32_t id = gHooks->text(number, text, length);
  if (id != 0 || (text != nullptr && length == 0))
    gHooks->argument(number, of, key, wire::ArgType::Text, id);
}

std::uint32_t counter(const sonde_plugin_host* host, const char* name, const char* unit) {
  const std::uint8_t number = numberOf(host, PluginCall::Counter);
  if (number == 0)
    return 0;
  const std::uint32_t unitId = textOf(number, unit, PluginCall::Counter);
  const bool isUnit = unit != nullptr && (unitId != 0 || unit[0] == '\0');
  const std::uint32_t nameId = isUnit ? textOf(number, name, PluginCall::Counter) : 0;
  return nameId == 0 && (!isUnit || name == nullptr || name[0] != '\0')
             ? 0
             : gHooks->counter(number, nameId, unitId);
}

void value(const sonde_plugin_host* host, std::uint32_t counter, double value) {
  if (const std::uint8_t number = numberOf(host, PluginCall::Value); number != 0)
    gHooks->value(number, counter, value);
}

void note(const sonde_plugin_host* host, std::uint32_t severity, const char* text) {
  const std::uint8_t number = numberOf(host, PluginCall::Note);
  if (number == 0)
    return;
  if (gHosts[number - 1].notes.fetch_add(1, std::memory_order_relaxed) >= kMaxNotes) {
    gHooks->misuse(number, PluginCall::Note, PluginMistake::TooMany);
    return;
  }
  if (const std::uint32_t id = textOf(number, text, PluginCall::Note);
      id != 0 || (text != nullptr && text[0] == '\0'))
    gHooks->note(number, severity, id);
}

constexpr sonde_plugin_host kTable = {SONDE_PLUGIN_ABI,
                                      sizeof(sonde_plugin_host),
                                      intern,
                                      enabled,
                                      now,
                                      begin,
                                      end,
                                      call,
                                      mark,
                                      argumentInt,
                                      argumentDouble,
                                      argumentText,
                                      counter,
                                      value,
                                      note};

}  // namespace

void useHooks(const Hooks& hooks) noexcept {
  gHooks = &hooks;
}

const sonde_plugin_host* openHost(std::uint8_t number) noexcept {
  Host& host = gHosts[number - 1];
  host.table = kTable;
  host.isOpen.store(true, std::memory_order_release);
  return &host.table;
}

void closeHost(const sonde_plugin_host* host) noexcept {
  gHosts[indexOf(host, PluginCall::Other)].isOpen.store(false, std::memory_order_release);
}

}  // namespace sonde::preload::plugin
