// A row of table process while its process is recorded, with the texts it refers to. Plain values;
// reading uses the database's thread.
#pragma once

#include "analysis/model/place.h"
#include "analysis/store/statement.h"

#include <string>
#include <string_view>

namespace sonde::ingest {

// Must not move: `row` refers to `command`.
struct ProcessRow {
  model::Process row;
  std::string command;
};

// The columns for a SELECT from process that readProcess() can read.
inline constexpr std::string_view kProcessColumns =
    "process.id, host_id, pid, parent_id, rank, local_rank, world_size, command, start_ns, end_ns, "
    "exit_status, exit_signal, state, pid_namespace, start_time, exec_count, cpu_ns";

// Reads a row that begins with kProcessColumns.
void readProcess(const store::Statement& columns, ProcessRow& into);

}  // namespace sonde::ingest
