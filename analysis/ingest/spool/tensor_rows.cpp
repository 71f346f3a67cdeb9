#include "analysis/ingest/spool/tensor_rows.h"

#include "analysis/ingest/rows/record_walk.h"
#include "collector/wire/tensor_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace sonde::ingest {

namespace {

using wire::TensorStatistics;

// Elements from `low` to `high`, in ascending order.
struct Bucket {
  double low;
  double high;
  std::uint64_t count;
};

constexpr std::uint64_t kNegative = std::uint64_t{1} << 63;

Bucket bucketOf(std::uint64_t word) {
  const std::uint64_t count = word & TensorStatistics::kCountMask;
  const std::uint64_t width = (word & TensorStatistics::kWholeOctave) != 0 ? 16 : 1;
  const std::uint64_t first = word >> TensorStatistics::kBucketShift;
  const std::uint64_t nearest = (first << TensorStatistics::kBucketShift) & ~kNegative;
  const auto near = std::bit_cast<double>(nearest);
  const double far =
      std::min(std::bit_cast<double>(nearest + (width << TensorStatistics::kBucketShift)),
               std::numeric_limits<double>::max());
  return (word & kNegative) != 0 ? Bucket{-far, -near, count} : Bucket{near, far, count};
}

// Adds the zeros in their place.
std::vector<Bucket> inOrder(std::span<const std::uint64_t> words, std::int64_t zeros) {
  const auto negative = std::find_if(
      words.begin(), words.end(), [](std::uint64_t word) { return (word & kNegative) != 0; });
  std::vector<Bucket> buckets;
  buckets.reserve(words.size() + 1);
  for (auto word = words.end(); word != negative;)
    buckets.push_back(bucketOf(*--word));
  if (zeros > 0)
    buckets.push_back({0, 0, static_cast<std::uint64_t>(zeros)});
  for (auto word = words.begin(); word != negative; ++word)
    buckets.push_back(bucketOf(*word));
  return buckets;
}

// The middle of the bucket with the element at this share of all.
double quantile(const std::vector<Bucket>& buckets, const model::Tensor& row, double share) {
  std::uint64_t all = 0;
  for (const Bucket& bucket : buckets)
    all += bucket.count;
  if (all == 0)
    return std::numeric_limits<double>::quiet_NaN();
  const auto rank = static_cast<std::uint64_t>(share * static_cast<double>(all - 1));
  std::uint64_t before = 0;
  for (const Bucket& bucket : buckets) {
    before += bucket.count;
    if (rank < before)
      return std::max(row.minimum, std::min(bucket.low / 2 + bucket.high / 2, row.maximum));
  }
  return row.maximum;
}

// [[low end, elements from there to the next], …, [the last end, 0]]; for zeros alone from 0 to 0.
std::string histogramOf(const std::vector<Bucket>& buckets) {
  std::string text = "[";
  const auto add = [&text](double low, std::uint64_t count) {
    fmt::format_to(
        std::back_inserter(text), "{}[{:.6g},{}]", text.size() > 1 ? "," : "", low, count);
  };
  for (std::size_t at = 0; at < buckets.size(); ++at) {
    add(buckets[at].low, buckets[at].count);
    if (at + 1 == buckets.size() || buckets[at + 1].low != buckets[at].high)
      add(buckets[at].high, 0);
  }
  return text + "]";
}

// Whether the ends ascend and are finite.
bool areBuckets(std::span<const std::uint64_t> words) {
  constexpr std::uint64_t kInfinite = 0x7ff0;
  std::int64_t before = -1;
  return std::all_of(words.begin(), words.end(), [&before](std::uint64_t word) {
    const auto bucket = static_cast<std::int64_t>(word >> TensorStatistics::kBucketShift);
    const bool isNext =
        bucket > before && (static_cast<std::uint64_t>(bucket) & 0x7fff) < kInfinite;
    before = bucket;
    return isNext;
  });
}

bool canBe(const TensorStatistics& head, std::size_t bytes) {
  return head.bucketCount <= wire::kMaxTensorBuckets &&
         sizeof head + head.bucketCount * sizeof(std::uint64_t) <= bytes && head.nans >= 0 &&
         head.infs >= 0 && head.zeros >= 0 && head.zeros <= head.elements &&
         head.nans <= head.elements && head.infs <= head.elements - head.nans;
}

}  // namespace

bool readTensor(std::span<const std::byte> record, model::Tensor& row) {
  const auto head = loadRecord<TensorStatistics>(record.data());
  const auto role = static_cast<model::TensorRole>(head.header.detail);
  if (model::word(role).empty() || !canBe(head, record.size()))
    return false;
  std::vector<std::uint64_t> words(head.bucketCount);
  if (!words.empty())
    std::memcpy(words.data(), record.data() + sizeof head, words.size() * sizeof words[0]);
  if (!areBuckets(words))
    return false;
  row.role = role;
  row.elements = head.elements;
  row.zeros = head.zeros;
  row.nans = head.nans;
  row.infs = head.infs;
  const bool isEmpty = head.elements == head.nans + head.infs;
  const auto ofSome = [isEmpty](double value) {
    return isEmpty ? std::numeric_limits<double>::quiet_NaN() : value;
  };
  row.minimum = ofSome(head.minimum);
  row.maximum = ofSome(head.maximum);
  row.mean = ofSome(head.mean);
  row.variance = ofSome(head.variance);
  row.l1 = head.l1;
  row.l2 = head.l2;
  const std::vector<Bucket> buckets = inOrder(words, head.zeros);
  for (std::size_t at = 0; at < row.quantiles.size(); ++at)
    row.quantiles[at] = quantile(buckets, row, model::Tensor::kQuantiles[at]);
  row.histogram = histogramOf(buckets);
  if (head.file != 0)
    row.fileOffset = static_cast<std::int64_t>(head.fileOffset);
  return true;
}

}  // namespace sonde::ingest
