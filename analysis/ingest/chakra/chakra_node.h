// One node of a Chakra execution trace, and functions that read it from its message. Plain values;
// any thread.
//
// Source: MLCommons Chakra, schema/protobuf/et_def.proto, and the attributes that its converter of
// PyTorch's traces writes.
#pragma once

#include "analysis/model/place.h"
#include "analysis/model/words.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::ingest {

enum class ChakraType : std::uint8_t {
  Invalid = 0,
  Metadata = 1,
  MemoryLoad = 2,
  MemoryStore = 3,
  Compute = 4,
  Send = 5,
  Receive = 6,
  Collective = 7,
};

struct ChakraNode {
  std::uint64_t id = 0;
  std::string name;
  ChakraType type = ChakraType::Invalid;
  std::vector<std::uint64_t> controlDeps;
  std::vector<std::uint64_t> dataDeps;
  bool hasTime = false;  // a start or a duration
  bool fits = true;      // its times fit into 64 bits of ns
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  // Attributes that have columns.
  std::optional<bool> isHost;
  model::OptionalInt stream{};
  model::OptionalInt thread{};
  model::OptionalInt bytes{};  // bytes communicated, else the size of its tensor
  model::OptionalInt source{};
  model::OptionalInt destination{};
  std::optional<model::CollectiveOp> op;
  std::string group;
  std::string args;  // all attributes, shapes and types, as a JSON object
};

// Returns why the message is invalid; nullptr: `node` is set.
const char* readChakraNode(const std::string& message, ChakraNode& node);
// The same for the message at the start of every file.
const char* readChakraMetadata(const std::string& message);

}  // namespace sonde::ingest
