#include "tests/cudasim/cupti/profiler_images.h"

#include <cstring>

namespace cudasim {
namespace {

enum class Magic : uint64_t {
  Availability = 0x6c69'6176'6d69'73ff,
  Config = 0x666e'6f63'6d69'73ff,
  CounterData = 0x6174'6164'6d69'73ff,
};

struct Header {
  Magic magic = Magic::Config;
  uint64_t checksum = 0;  // of everything after it
  uint64_t bytes = 0;     // of the image
  MetricSet metrics = 0;
  uint32_t ranges = 0;
  uint64_t maxRanges = 0;
};
constexpr size_t kChecked = offsetof(Header, bytes);
constexpr size_t kBytesPerMetric = 40;  // so that, as in reality, more metrics mean larger images

// FNV-1a.
uint64_t checksum(const uint8_t* image, size_t bytes) {
  uint64_t sum = 0xcbf2'9ce4'8422'2325;
  for (size_t i = kChecked; i < bytes; ++i) {
    sum = (sum ^ image[i]) * 0x100'0000'01b3;
  }
  return sum;
}

// Writes the header before the existing contents of the image.
void seal(Header header, uint8_t* image) {
  std::memcpy(image, &header, sizeof header);
  header.checksum = checksum(image, header.bytes);
  std::memcpy(image, &header, sizeof header);
}

std::optional<Header> open(Magic magic, const uint8_t* image, size_t bytes) {
  Header header;
  if (!image || bytes < sizeof header) {
    return std::nullopt;
  }
  std::memcpy(&header, image, sizeof header);
  if (header.magic != magic || header.bytes > bytes ||
      header.checksum != checksum(image, header.bytes)) {
    return std::nullopt;
  }
  return header;
}

}  // namespace

std::vector<uint8_t> availabilityImage() {
  std::vector<uint8_t> image(sizeof(Header));
  Header header;
  header.magic = Magic::Availability;
  header.bytes = image.size();
  seal(header, image.data());
  return image;
}

bool isAvailabilityImage(const uint8_t* image) {
  return open(Magic::Availability, image, sizeof(Header)).has_value();
}

std::vector<uint8_t> configImage(MetricSet metrics) {
  const auto count = static_cast<size_t>(__builtin_popcount(metrics));
  std::vector<uint8_t> image(sizeof(Header) + count * kBytesPerMetric);
  Header header;
  header.magic = Magic::Config;
  header.bytes = image.size();
  header.metrics = metrics;
  seal(header, image.data());
  return image;
}

std::optional<MetricSet> readConfigImage(const uint8_t* image, size_t bytes) {
  const auto header = open(Magic::Config, image, bytes);
  return header ? std::optional(header->metrics) : std::nullopt;
}

size_t counterDataSize(const CounterData& data) {
  return sizeof(Header) + data.maxRanges * sizeof(RangeData);
}

void writeCounterData(const CounterData& data, uint8_t* image) {
  Header header;
  header.magic = Magic::CounterData;
  header.bytes = counterDataSize(data);
  header.metrics = data.metrics;
  header.ranges = static_cast<uint32_t>(data.ranges.size());
  header.maxRanges = data.maxRanges;
  std::memset(image, 0, header.bytes);
  if (!data.ranges.empty()) {
    std::memcpy(image + sizeof header, data.ranges.data(), data.ranges.size() * sizeof(RangeData));
  }
  seal(header, image);
}

std::optional<CounterData> readCounterData(const uint8_t* image, size_t bytes) {
  const auto header = open(Magic::CounterData, image, bytes);
  if (!header) {
    return std::nullopt;
  }
  CounterData data{header->metrics, header->maxRanges, std::vector<RangeData>(header->ranges)};
  if (!data.ranges.empty()) {
    std::memcpy(data.ranges.data(), image + sizeof(Header), data.ranges.size() * sizeof(RangeData));
  }
  return data;
}

}  // namespace cudasim
