#include "analysis/ingest/nsight/nsight_places.h"

#include <array>

namespace sonde::ingest {
namespace {

using Column = NsightTable::Column;
using Type = NsightTable::Type;

Result<void> readProcesses(NsightContext& context) {
  constexpr std::array<Column, 2> kColumns = {
      {{"globalPid", Type::Integer, true}, {"name", Type::Text}}};
  SONDE_TRY_ASSIGN(auto table,
                   NsightTable::open(context.file, "PROCESSES", kColumns, context.account));
  return forEachRow(std::move(table), [&](const NsightTable& row) -> Result<void> {
    if (const auto name = row.text(1))
      context.nameProcess(*row.integer(0), *name);
    return {};
  });
}

Result<void> readThreads(NsightContext& context) {
  constexpr std::array<Column, 2> kColumns = {
      {{"globalTid", Type::Integer, true}, {"nameId", Type::Integer, true}}};
  SONDE_TRY_ASSIGN(auto table,
                   NsightTable::open(context.file, "ThreadNames", kColumns, context.account));
  return forEachRow(std::move(table), [&](const NsightTable& row) -> Result<void> {
    SONDE_TRY_ASSIGN(const NsightNames::Name* const name, context.names.find(row.integer(1)));
    context.nameThread(*row.integer(0), name->text);
    return {};
  });
}

Result<void> readDevices(NsightContext& context) {
  constexpr std::array<Column, 4> kColumns = {
      {{"id", Type::Integer, true}, {"name", Type::Text}, {"totalMemory"}, {"uuid", Type::Text}}};
  SONDE_TRY_ASSIGN(auto table,
                   NsightTable::open(context.file, "TARGET_INFO_GPU", kColumns, context.account));
  return forEachRow(std::move(table), [&](const NsightTable& row) -> Result<void> {
    ImportedDevices::Facts device;
    device.name = row.text(1).value_or("");
    device.memoryBytes = row.integer(2);
    device.uuid = row.text(3).value_or("");
    context.places.devices().describe("", {}, *row.integer(0), std::move(device));
    return {};
  });
}

Result<void> readRanks(NsightContext& context) {
  constexpr std::array<Column, 2> kColumns = {
      {{"globalTid", Type::Integer, true}, {"rank", Type::Integer, true}}};
  SONDE_TRY_ASSIGN(auto table,
                   NsightTable::open(context.file, "MPI_RANKS", kColumns, context.account));
  return forEachRow(std::move(table), [&](const NsightTable& row) -> Result<void> {
    const std::int64_t rank = *row.integer(1);
    context.places.setRank(context.process(*row.integer(0)), rank);
    context.account.ranks.insert(rank);
    return {};
  });
}

// Reads Nsight's notes about its own recording, such as losses.
Result<void> readDiagnostics(NsightContext& context) {
  constexpr std::array<Column, 2> kColumns = {{{"text", Type::Text, true}, {"timestamp"}}};
  return context.read("DIAGNOSTIC_EVENT", kColumns, "diagnostic", [&](const NsightTable& row) {
    model::Note note;
    note.source = "nsight";
    note.text = *row.text(0);
    if (const auto time = row.integer(1))
      note.tsNs = context.timeOf(*time);
    const auto added = context.writer.add(note);
    return added ? Result<void>() : Result<void>(added.error());
  });
}

}  // namespace

Result<std::string> nsightHostName(const NsightFile& file) {
  constexpr std::array<Column, 2> kColumns = {
      {{"name", Type::Text, true}, {"value", Type::Text, true}}};
  ImportedFile uncounted;
  std::string host;
  SONDE_TRY_ASSIGN(auto table,
                   NsightTable::open(file, "TARGET_INFO_SYSTEM_ENV", kColumns, uncounted));
  SONDE_TRY(forEachRow(std::move(table), [&](const NsightTable& row) -> Result<void> {
    if (row.text(0) == "Hostname")
      host = *row.text(1);
    return {};
  }));
  return host;
}

Result<void> readNsightClock(NsightContext& context) {
  constexpr std::array<Column, 1> kColumns = {{{"utcEpochNs", Type::Integer, true}}};
  SONDE_TRY_ASSIGN(
      auto table,
      NsightTable::open(context.file, "TARGET_INFO_SESSION_START_TIME", kColumns, context.account));
  return forEachRow(std::move(table), [&](const NsightTable& row) -> Result<void> {
    context.setEpoch(*row.integer(0));
    return {};
  });
}

Result<void> readNsightPlaces(NsightContext& context) {
  SONDE_TRY(readProcesses(context));
  SONDE_TRY(readThreads(context));
  SONDE_TRY(readDevices(context));
  SONDE_TRY(readRanks(context));
  return readDiagnostics(context);
}

}  // namespace sonde::ingest
