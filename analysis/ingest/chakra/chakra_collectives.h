// The communication of an execution trace: a row for each node that communicates. Owned by one
// importer, on one thread; keeps all of them in memory.
#pragma once

#include "analysis/ingest/chakra/chakra_node.h"
#include "analysis/model/event.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::ingest {

class ChakraCollectives {
 public:
  // The operation of a node that communicates; unset: unknown, or the node does not communicate.
  static std::optional<model::CollectiveOp> opOf(const ChakraNode& node);

  // `row` refers to the node's slice or kernel. Requires: opOf(node).
  void add(const ChakraNode& node, model::Collective row);

  // Stores the rows ordered by begin. Each, except sends and receives, gets its ordinal in its
  // group as sequence number. Requires: an open transaction.
  Result<void> finish(store::TraceWriter& writer,
                      model::ProcessId process,
                      model::OptionalInt rank);

 private:
  struct Group {
    model::CommunicatorId id{};
    std::int64_t calls = 0;
  };
  struct Call {
    Group* group;
    model::Collective row{};
  };

  std::map<std::string, Group> groups_;  // by name; empty: the group of all ranks
  std::vector<Call> calls_;
};

}  // namespace sonde::ingest
