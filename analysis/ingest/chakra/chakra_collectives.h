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
  // What a node that communicates does; none: it does not say, or is none.
  static std::optional<model::CollectiveOp> opOf(const ChakraNode& node);

  // `row` has the slice or the kernel of the node. Requires: opOf(node).
  void add(const ChakraNode& node, model::Collective row);

  // Stores them in the order in which they began; each but sends and receives gets its ordinal in
  // its group as its sequence number. Requires: a transaction is open.
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

  std::map<std::string, Group> groups_;  // by name; empty: that of all ranks
  std::vector<Call> calls_;
};

}  // namespace sonde::ingest
