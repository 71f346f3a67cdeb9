#include "analysis/ingest/trace_event/device_row_names.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace sonde::ingest {
namespace {

std::string keyOf(const Label& pid, const Label& tid) {
  return std::string(pid.text).append("\n").append(tid.text);
}

// The number at the start of the text.
std::optional<std::int64_t> numberAt(std::string_view text) noexcept {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && number >= 0 ? std::optional(number) : std::nullopt;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return result;
}

}  // namespace

// "/device:GPU:0" of XLA, possibly after a host's name; "Ascend Hardware"; "CUDA functions".
std::optional<DeviceRowNames::Device> DeviceRowNames::deviceOf(std::string_view name) {
  constexpr std::string_view kXla = "/device:";
  constexpr std::string_view kFunctions = " functions";
  if (const std::size_t at = name.find(kXla); at != std::string_view::npos) {
    const std::string_view rest = name.substr(at + kXla.size());
    const std::size_t colon = rest.find(':');
    const std::string kind = lower(rest.substr(0, colon));
    const auto ordinal =
        numberAt(colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1));
    if (kind.empty() || kind == "cpu" || !ordinal)
      return {};
    return Device{Tool::Xla, kind, *ordinal};
  }
  if (name.starts_with("Ascend Hardware"))
    return Device{Tool::Ascend, "npu", 0};
  if (name.ends_with(kFunctions) && !name.starts_with("CPU"))
    return Device{Tool::PyTorch, "gpu", 0};
  return {};
}

// "Stream #14(Compute)", "Stream 44".
std::optional<std::int64_t> DeviceRowNames::streamOf(std::string_view threadName) noexcept {
  constexpr std::string_view kWord = "Stream ";
  if (!threadName.starts_with(kWord))
    return {};
  threadName.remove_prefix(kWord.size());
  if (threadName.starts_with('#'))
    threadName.remove_prefix(1);
  return numberAt(threadName);
}

void DeviceRowNames::nameProcess(const Label& pid, std::string_view name) {
  key_.clear();
  const auto device = deviceOf(name);
  if (!device)
    return;
  const auto asked = isDevice_.find(std::string(pid.text));
  if (asked != isDevice_.end() && !asked->second) {
    ++lateNames_;
    return;
  }
  processes_.try_emplace(std::string(pid.text), *device);
}

void DeviceRowNames::nameThread(const Label& pid, const Label& tid, std::string_view name) {
  key_.clear();
  threads_[keyOf(pid, tid)] = name;
  const auto process = processes_.find(std::string(pid.text));
  if (process != processes_.end() && streamOf(name))
    process->second.hasStreams = true;
}

DeviceRow DeviceRowNames::rowOf(const Device& device, const std::string& key, const Label& tid) {
  const auto named = threads_.find(key);
  const std::string_view name = named == threads_.end() ? std::string_view() : named->second;
  const std::int64_t number = tid.number.value_or(0);
  if (device.tool == Tool::PyTorch)  // its threads are the devices
    return {DeviceRow::Use::Work, number, 0};
  const auto stream = streamOf(name);
  // Without streams, as on TPUs, operations are the device's work.
  const bool isOps = !device.hasStreams && (name == "XLA Ops" || name.empty());
  if (stream || isOps)
    return {DeviceRow::Use::Work, device.ordinal, stream.value_or(number)};
  repeating_.emplace(name.empty() ? "unnamed" : name);
  return {DeviceRow::Use::Repeats, device.ordinal, number};
}

const DeviceRow* DeviceRowNames::find(const Label& pid, const Label& tid) {
  std::string key = keyOf(pid, tid);
  if (key == key_)
    return last_;
  key_ = std::move(key);
  last_ = nullptr;
  const std::string label(pid.text);
  if (!pid.number && isDevice_.find(label) == isDevice_.end())  // a text is its own name
    nameProcess(pid, label);
  const auto process = processes_.find(label);
  isDevice_.try_emplace(label, process != processes_.end());
  if (process == processes_.end())
    return nullptr;
  const auto [row, fresh] = rows_.try_emplace(key_);
  if (fresh)
    row->second = rowOf(process->second, key_, tid);
  if (row->second.use == DeviceRow::Use::Work)
    devices_.try_emplace(row->second.device, process->second.kind);
  last_ = &row->second;
  return last_;
}

EventTable deviceTableOf(std::string_view name, std::string_view taskType) noexcept {
  const auto begins = [](std::string_view text, std::string_view word) {
    return text.size() >= word.size() &&
           std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
             return a == std::tolower(static_cast<unsigned char>(b));
           });
  };
  if (begins(name, "memcpy") || begins(name, "memset") || begins(taskType, "memcpy") ||
      begins(taskType, "sdma"))
    return EventTable::Copy;
  for (const std::string_view word : {"event_wait", "notify_wait", "event_record", "notify_record"})
    if (begins(taskType, word) || begins(name, word))
      return EventTable::Sync;
  return EventTable::Kernel;
}

OptionalNumber copyBytesOf(std::string_view details) noexcept {
  constexpr std::string_view kSize = "size:";
  const std::size_t at = details.find(kSize);
  return at == std::string_view::npos ? OptionalNumber()
                                      : numberAt(details.substr(at + kSize.size()));
}

}  // namespace sonde::ingest
