#include "analysis/ingest/rows/process_row.h"

namespace sonde::ingest {

void readProcess(const store::Statement& columns, ProcessRow& into) {
  model::Process& row = into.row;
  row.id = columns.id<model::ProcessId>(0);
  row.hostId = columns.id<model::HostId>(1);
  row.pid = columns.integer(2);
  row.parentId = columns.id<model::ProcessId>(3);
  row.rank = columns.optionalInteger(4);
  row.localRank = columns.optionalInteger(5);
  row.worldSize = columns.optionalInteger(6);
  into.command = columns.text(7);
  row.command = columns.isNull(7) ? model::OptionalText() : model::OptionalText(into.command);
  row.startNs = columns.optionalInteger(8);
  row.endNs = columns.optionalInteger(9);
  row.exitStatus = columns.optionalInteger(10);
  row.exitSignal = columns.optionalInteger(11);
  row.state = model::processStateOf(columns.text(12)).value_or(model::ProcessState::Unknown);
  row.pidNamespace = columns.optionalInteger(13);
  row.startTime = columns.optionalInteger(14);
  row.execCount = columns.optionalInteger(15);
  row.cpuNs = columns.optionalInteger(16);
}

}  // namespace sonde::ingest
