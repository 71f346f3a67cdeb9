#include "collector/preload/cuda/activity/cuda_streams.h"

#include "collector/core/device_work.h"

#include <cstring>

namespace sonde::preload::cuda {

// Clears the table when it is three quarters full. Its streams are then defined again; the recorder
// recognises them as the same.
StreamTable::Stream& StreamTable::entryOf(std::uint32_t context, std::uint32_t number) noexcept {
  if (used_ > kStreams / 4 * 3) {
    std::memset(streams_, 0, sizeof streams_);
    used_ = 0;
  }
  const std::size_t hash = (std::size_t{context} * 40503 + number) * 2654435761U;
  for (std::size_t probe = 0;; ++probe) {
    Stream& entry = streams_[(hash + probe) % kStreams];
    if (entry.id == 0 || (entry.context == context && entry.number == number))
      return entry;
  }
}

std::uint32_t StreamTable::idOf(std::uint32_t context,
                                std::uint32_t number,
                                std::uint32_t device) noexcept {
  const bool isLast = last_ != nullptr && last_->context == context && last_->number == number;
  Stream* const entry = isLast ? last_ : &entryOf(context, number);
  last_ = entry;
  const bool isKnown =
      entry->id != 0 && (device == entry->device || device == wire::StreamDefinition::kNoDevice);
  if (isKnown)
    return entry->id;
  const std::uint32_t id = entry->id != 0 ? entry->id : lastId_ + 1;
  wire::StreamDefinition definition{};
  definition.id = id;
  definition.device = device;
  definition.context = context;
  definition.number = number;
  if (!core::defineStream(definition))
    return 0;
  lastId_ += entry->id == 0 ? 1 : 0;
  used_ += entry->id == 0 ? 1 : 0;
  *entry = {context, number, device, id};
  return id;
}

void StreamTable::setDevice(std::uint32_t context, std::uint32_t device) noexcept {
  contexts_[context % kContexts] = {context, device + 1};
}

std::uint32_t StreamTable::deviceOf(std::uint32_t context) const noexcept {
  const Context& entry = contexts_[context % kContexts];
  const bool isKnown = entry.device != 0 && entry.context == context;
  return isKnown ? entry.device - 1 : wire::StreamDefinition::kNoDevice;
}

}  // namespace sonde::preload::cuda
