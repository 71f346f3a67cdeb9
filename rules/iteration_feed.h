// The completed iterations of a trace for the rules: by entity, in ascending order. One thread: the
// database's.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"
#include "rules/rule.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::rules {

struct Entity {
  std::string name;  // "rank 3", "process 4711", "host node-1", "job"
  std::vector<std::int64_t> processes;
};

class IterationFeed {
 public:
  // Reads the rules' input: completed iterations, and the scalars of their processes.
  static Result<IterationFeed> read(const store::Database& trace);

  // The entities that a rule of this scope judges, ranks in order. Empty if no process has a
  // completed iteration.
  std::vector<Entity> entities(Scope scope) const;

  // Iterations that at least one process of the entity has completed, with the parts of those
  // processes, by process id.
  std::vector<Step> steps(const Entity& entity) const;
  StrayScalars strayScalars(const Entity& entity) const;

 private:
  struct Process {
    std::int64_t id = 0;
    std::string name;
    std::string host;
    std::vector<std::pair<std::int64_t, ProcessStep>> steps;  // by number
    StrayScalars stray;
  };

  Result<void> readProcesses(const store::Database& trace);
  Result<void> readIterations(const store::Database& trace);
  Result<void> readScalars(const store::Database& trace);

  std::vector<Process> processes_;  // ranks first, in order; only those with completed iterations
  std::map<std::int64_t, std::size_t> indexOf_;
};

}  // namespace sonde::rules
