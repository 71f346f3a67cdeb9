#include "cli/shard/tables_file.h"

#include "analysis/engine/models/kernels/device_peaks.h"
#include "analysis/questions/bandwidth.h"
#include "base/suggest.h"
#include "base/text/byte_size.h"
#include "base/text/time_span.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace sonde::cli {

using questions::parseBandwidth;

namespace {

using engine::models::EmbeddingTable;

// With these the numbers of a tensor train can be counted.
constexpr std::int64_t kMostNumbers = 1'000'000;  // in a row
constexpr std::int64_t kMostTtRank = 4'096;

// One table of the file, whose keys are known.
class Section {
 public:
  Section(const std::string& path, const toml::table& table) : path_(path), table_(table) {}

  Error at(const toml::source_region& region, std::string_view message) const {
    return {ErrorCode::InvalidArgument,
            fmt::format("{}:{}:{}: {}", path_, region.begin.line, region.begin.column, message)};
  }
  Error at(std::string_view key, std::string_view message) const {
    const toml::node* node = table_.get(key);
    return at(node == nullptr ? table_.source() : node->source(), message);
  }

  Result<void> checkKeys(const std::vector<std::string>& known) const {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end())
        continue;
      const std::string nearest = nearestWord(name, known);
      return at(key.source(),
                nearest.empty()
                    ? fmt::format("there is no '{}' here: use {}", name, fmt::join(known, ", "))
                    : fmt::format("there is no '{}' here: did you mean '{}'?", name, nearest));
    }
    return {};
  }

  bool has(std::string_view key) const { return table_.contains(key); }

  // `example`: such a text, for messages.
  Result<std::string> text(std::string_view key, std::string_view example) const {
    if (const auto value = table_[key].value_exact<std::string>())
      return *value;
    if (!has(key))
      return at(key, fmt::format("'{0}' is missing: write {0} = \"{1}\"", key, example));
    return at(key, fmt::format("'{0}' is a text in quotes, as in {0} = \"{1}\"", key, example));
  }

  // From `least` to `most`; `otherwise`, if it is not given.
  Result<std::int64_t> whole(std::string_view key,
                             std::int64_t least,
                             std::optional<std::int64_t> otherwise = {},
                             std::int64_t most = 1'000'000'000'000) const {
    if (!has(key) && otherwise)
      return *otherwise;
    if (!has(key))
      return at(key, fmt::format("'{}' is missing: a whole number from {}", key, least));
    const auto value = table_[key].value_exact<std::int64_t>();
    if (value && *value >= least && *value <= most)
      return *value;
    return at(key, fmt::format("'{}' is a whole number from {} to {}", key, least, most));
  }

  Result<double> number(std::string_view key, double least, double most, double otherwise) const {
    if (!has(key))
      return otherwise;
    const auto value = table_[key].value<double>();
    if (value && *value >= least && *value <= most)
      return *value;
    return at(key, fmt::format("'{}' is a number from {} to {}", key, least, most));
  }

  // Parses the text of a key.
  template <class Parse>
  auto parsed(std::string_view key, std::string_view example, Parse parse) const
      -> decltype(parse(std::string_view())) {
    auto written = text(key, example);
    if (!written)
      return written.error();
    auto value = parse(*written);
    if (!value)
      return at(key, fmt::format("'{}': {}", key, value.error().message));
    return value;
  }

  // The tables of a key such as [[table]] or [device].
  Result<Section> section(std::string_view key) const {
    if (const toml::table* found = table_[key].as_table())
      return Section(path_, *found);
    return at(key,
              fmt::format("'{0}' is a table: write [{0}] and its keys on the next lines", key));
  }
  Result<std::vector<Section>> sections(std::string_view key) const {
    std::vector<Section> found;
    if (const toml::array* all = table_[key].as_array())
      for (const toml::node& each : *all)
        if (const toml::table* table = each.as_table())
          found.emplace_back(path_, *table);
    if (found.empty())
      return at(key, fmt::format("there is no {0}: write [[{0}]] before the keys of each", key));
    return found;
  }

 private:
  const std::string& path_;
  const toml::table& table_;
};

Result<double> readBytes(const Section& of, std::string_view key) {
  SONDE_TRY_ASSIGN(const std::uint64_t bytes, of.parsed(key, "40GiB", [](std::string_view text) {
    return parseByteSize(text);
  }));
  if (bytes == 0)
    return of.at(key, fmt::format("'{}' is above 0", key));
  return static_cast<double>(bytes);
}

Result<double> readBytesPerNs(const Section& of, std::string_view key) {
  SONDE_TRY_ASSIGN(const std::int64_t bits, of.parsed(key, "25GB/s", [](std::string_view text) {
    return parseBandwidth(text);
  }));
  return static_cast<double>(bits) / 8e9;
}

Result<void> readDevice(const Section& of, TablesFile& file) {
  SONDE_TRY(of.checkKeys({"name", "bandwidth", "flops", "cache", "cache-bandwidth"}));
  engine::models::LookupDevice& device = file.device;
  if (of.has("name")) {
    SONDE_TRY_ASSIGN(const std::string name, of.text("name", "A100"));
    const auto* peaks = engine::models::peaksOf(name);
    if (peaks == nullptr)
      return of.at("name",
                   fmt::format("the peaks of '{}' are not known: use {}, or give bandwidth and "
                               "flops instead",
                               name,
                               engine::models::namesOfPeaks()));
    device.dramBytesPerNs = peaks->bandwidth;
    device.flopsPerNs = peaks->single;
  }
  if (of.has("bandwidth")) {
    SONDE_TRY_ASSIGN(device.dramBytesPerNs, readBytesPerNs(of, "bandwidth"));
  }
  if (of.has("flops")) {
    SONDE_TRY_ASSIGN(const double flops, of.number("flops", 1e6, 1e18, 0));
    device.flopsPerNs = flops / 1e9;
  }
  if (device.dramBytesPerNs == 0 || device.flopsPerNs == 0)
    return of.at("name",
                 "the device needs a name, or its bandwidth and flops, as in bandwidth = "
                 "\"2039GB/s\" and flops = 19.5e12");
  constexpr double kCacheFactor = 3;
  constexpr double kCacheBytes = 40.0 * (1 << 20);
  device.cacheBytesPerNs = kCacheFactor * device.dramBytesPerNs;
  device.cacheBytes = kCacheBytes;
  if (of.has("cache-bandwidth")) {
    SONDE_TRY_ASSIGN(device.cacheBytesPerNs, readBytesPerNs(of, "cache-bandwidth"));
  } else {
    file.notes.push_back(
        fmt::format("the cache is taken to be {:g} times as fast as the memory (cache-bandwidth)",
                    kCacheFactor));
  }
  if (of.has("cache")) {
    SONDE_TRY_ASSIGN(device.cacheBytes, readBytes(of, "cache"));
  } else {
    file.notes.emplace_back("the cache is taken to have 40 MiB (cache)");
  }
  return {};
}

Result<void> readNetwork(const Section& of, TablesFile& file) {
  SONDE_TRY(of.checkKeys({"bandwidth", "latency"}));
  SONDE_TRY_ASSIGN(const double bytesPerNs, readBytesPerNs(of, "bandwidth"));
  SONDE_TRY_ASSIGN(
      const std::int64_t latency,
      of.parsed("latency", "10us", [](std::string_view text) { return parseTimeSpan(text); }));
  file.network.emplace();
  file.network->byteNs = 1 / bytesPerNs;
  file.network->stepNs = static_cast<double>(latency);
  return {};
}

Result<void> readTable(const Section& of, std::int64_t batch, TablesFile& file) {
  SONDE_TRY(of.checkKeys({"name", "rows", "dim", "pooling", "skew", "tt-rank", "rank"}));
  EmbeddingTable table;
  table.batch = batch;
  SONDE_TRY_ASSIGN(table.rows, of.whole("rows", 1));
  SONDE_TRY_ASSIGN(table.dim, of.whole("dim", 1, {}, kMostNumbers));
  SONDE_TRY_ASSIGN(table.pooling, of.whole("pooling", 1, 1));
  SONDE_TRY_ASSIGN(table.skew, of.number("skew", 0, 10, 0));
  SONDE_TRY_ASSIGN(table.ttRank, of.whole("tt-rank", 1, 0, kMostTtRank));
  SONDE_TRY_ASSIGN(const std::int64_t rank, of.whole("rank", 0, -1));
  const auto ranks = static_cast<std::int64_t>(file.options.ranks);
  if (rank >= ranks)
    return of.at("rank",
                 fmt::format("there are {} ranks, so the last one is {}", ranks, ranks - 1));
  file.rankOf.push_back(rank < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(rank)));
  std::string name = fmt::format("table {}", file.tables.size());
  if (of.has("name")) {
    SONDE_TRY_ASSIGN(name, of.text("name", "users"));
  }
  file.names.push_back(std::move(name));
  file.tables.push_back(table);
  return {};
}

Result<TablesFile> readFile(const Section& of) {
  SONDE_TRY(
      of.checkKeys({"ranks", "memory", "optimizer-state", "batch", "device", "network", "table"}));
  TablesFile file;
  SONDE_TRY_ASSIGN(const std::int64_t ranks, of.whole("ranks", 1));
  if (ranks > 4096)
    return of.at("ranks", "at most 4096 ranks");
  file.options.ranks = static_cast<std::size_t>(ranks);
  SONDE_TRY_ASSIGN(file.options.bytesPerRank, readBytes(of, "memory"));
  SONDE_TRY_ASSIGN(const double state, of.number("optimizer-state", 0, 16, 0));
  file.options.bytesPerByte = 1 + state;
  SONDE_TRY_ASSIGN(const std::int64_t batch, of.whole("batch", 1));
  SONDE_TRY_ASSIGN(const Section device, of.section("device"));
  SONDE_TRY(readDevice(device, file));
  if (of.has("network")) {
    SONDE_TRY_ASSIGN(const Section network, of.section("network"));
    SONDE_TRY(readNetwork(network, file));
  }
  SONDE_TRY_ASSIGN(const std::vector<Section> tables, of.sections("table"));
  for (const Section& each : tables)
    SONDE_TRY(readTable(each, batch, file));
  return file;
}

}  // namespace

Result<TablesFile> readTablesFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (!stream || !(text << stream.rdbuf()))
    return Error{ErrorCode::InvalidArgument, fmt::format("cannot read {}, or it is empty", path)};
  try {
    const toml::table table = toml::parse(text.str(), path);
    return readFile(Section(path, table));
  } catch (const toml::parse_error& error) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}:{}:{}: {}",
                             path,
                             error.source().begin.line,
                             error.source().begin.column,
                             error.description())};
  }
}

}  // namespace sonde::cli
