// Reads embedding tables and the machine that they are for from a TOML file (`sonde shard`). Plain
// functions.
#pragma once

#include "analysis/engine/models/kernels/embedding_lookup.h"
#include "analysis/engine/sharding/sharding.h"
#include "base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sonde::cli {

struct TablesFile {
  std::vector<std::string> names;                      // of `tables`
  std::vector<engine::models::EmbeddingTable> tables;  // batch: samples of one rank
  std::vector<std::optional<std::size_t>> rankOf;      // as it is now, by table
  engine::sharding::ShardingOptions options;
  engine::models::LookupDevice device;
  std::optional<engine::models::CollectiveModel> network;
  std::vector<std::string> notes;  // what is assumed
};

// InvalidArgument: something that the file cannot have, with file, line and column; or the file
// cannot be read.
Result<TablesFile> readTablesFile(const std::string& path);

}  // namespace sonde::cli
