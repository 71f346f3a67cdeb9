#include "analysis/finalise/lod_builder.h"

#include <algorithm>
#include <utility>

namespace sonde::store {
namespace {

constexpr int kWindowBits = 8;  // 256 widths
constexpr std::int64_t kWidthsOfCoarsest = 256;

LodRow rowOf(const LineEvent& event, int level) {
  return {level,
          event.startNs,
          event.startNs + event.durNs,
          event.durNs,
          1,
          event.bytes,
          event.id,
          event.nameId,
          event.kind};
}

}  // namespace

void LineSurvey::add(std::int64_t startNs, std::int64_t endNs) {
  endNs_ = std::max(endNs_, endNs);
  if (count_++ == 0) {
    startNs_ = startNs;
    return;
  }
  if (!windows_) {
    windows_ = std::make_unique<Windows>();
    addToWindows(startNs_);
  }
  addToWindows(startNs);
}

void LineSurvey::addToWindows(std::int64_t startNs) noexcept {
  for (int i = 0; i < kLevelCount; ++i) {
    Window& window = (*windows_)[static_cast<std::size_t>(i)];
    const std::int64_t index = startNs >> (levelAt(i) + kWindowBits);
    window.count = index == window.index ? window.count + 1 : 1;
    window.index = index;
    window.most = std::max(window.most, window.count);
  }
}

std::optional<LevelRange> LineSurvey::levels() const noexcept {
  if (count_ <= kMaxEventsPerWindow)
    return std::nullopt;
  int first = 0;
  while (first + 1 < kLevelCount &&
         (*windows_)[static_cast<std::size_t>(first) + 1].most <= kMaxEventsPerWindow)
    ++first;
  int last = first;
  while (last + 1 < kLevelCount && (endNs_ - startNs_) >> levelAt(last) > kWidthsOfCoarsest)
    ++last;
  return LevelRange{levelAt(first), levelAt(last)};
}

LodBuilder::LodBuilder(LevelRange levels, Sink sink) : sink_(std::move(sink)) {
  for (int level = levels.min; level <= levels.max; level += kLevelStep) {
    Bucket bucket;
    bucket.row.level = level;
    buckets_.push_back(std::move(bucket));
  }
}

void LodBuilder::add(const LineEvent& event) {
  for (Bucket& bucket : buckets_) {
    const int level = bucket.row.level;
    const std::int64_t index = event.startNs >> level;
    const bool alone = event.durNs >> level != 0;
    if (alone || index != bucket.index)
      flush(bucket);
    if (alone) {
      sink_(rowOf(event, level));
      continue;
    }
    if (bucket.row.count == 0) {
      bucket = {index, event.durNs, rowOf(event, level)};
      continue;
    }
    LodRow& row = bucket.row;
    row.endNs = std::max(row.endNs, event.startNs + event.durNs);
    row.busyNs += event.durNs;
    row.bytes += event.bytes;
    ++row.count;
    if (event.durNs > bucket.longestNs) {
      bucket.longestNs = event.durNs;
      row.eventId = event.id;
      row.nameId = event.nameId;
      row.kind = event.kind;
    }
  }
}

void LodBuilder::finish() {
  for (Bucket& bucket : buckets_)
    flush(bucket);
}

void LodBuilder::flush(Bucket& bucket) {
  if (bucket.row.count == 0)
    return;
  sink_(bucket.row);
  bucket.row.count = 0;
}

}  // namespace sonde::store
