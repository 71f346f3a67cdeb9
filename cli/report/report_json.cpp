#include "cli/report/report_devices.h"
#include "cli/report/report_path.h"
#include "cli/report/report_python.h"
#include "cli/report/report_standstill.h"
#include "cli/report/report_text.h"
#include "cli/report/report_threads.h"
#include "cli/report/report_throughput.h"
#include "cli/text/json_value.h"

#include <map>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace metrics = engine::metrics;
using nlohmann::json;

// The times of a rank's window.
json windowJson(const metrics::RankTime& time) {
  const auto ifComputeKnown = [&](std::int64_t ns) {
    return time.computeKnown ? json(ns) : json(nullptr);
  };
  return {{"window_ns", time.windowNs},
          {"compute_ns", ifComputeKnown(time.computeNs)},
          {"copy_ns", time.copyNs},
          {"exposed_copy_ns", ifComputeKnown(time.exposedCopyNs)},
          {"comm_ns", time.commNs},
          {"exposed_comm_ns", ifComputeKnown(time.exposedNs)},
          {"idle_ns", ifComputeKnown(time.idleNs)}};
}

json rankJson(const RankReport& rank) {
  const metrics::RankTime& time = rank.time;
  json parts = nullptr;
  if (rank.parts)
    parts = {{"number", rank.parts->number},
             {"ns", rank.parts->durNs},
             {"data_load_ns", rank.parts->dataLoadNs},
             {"forward_ns", rank.parts->forwardNs},
             {"backward_ns", rank.parts->backwardNs},
             {"optimizer_ns", rank.parts->optimizerNs},
             {"other_ns", rank.parts->otherNs}};
  json object = {{"rank", orNull(rank.process.rank)},
                 {"device", time.device},
                 {"raw", windowJson(rank.rawTime)},
                 {"low", windowJson(rank.lowTime)},
                 {"high", windowJson(rank.highTime)},
                 {"comm_overlap",
                  time.computeKnown && time.commNs > 0
                      ? json(static_cast<double>(time.hiddenNs) / static_cast<double>(time.commNs))
                      : json(nullptr)},
                 {"collectives", time.collectives},
                 {"iteration",
                  {{"count", rank.iterations.count},
                   {"median_ns", rank.iterations.medianNs},
                   {"p95_ns", rank.iterations.p95Ns},
                   {"min_ns", rank.iterations.minNs},
                   {"max_ns", rank.iterations.maxNs}}},
                 {"masked_iterations", rank.process.maskedCount},
                 {"median_iteration", std::move(parts)}};
  object.update(windowJson(time));
  object["idle_load_ns"] = time.computeKnown ? json(rank.idleLoadNs) : json(nullptr);
  return object;
}

void addTime(const metrics::CorrectedNs& time, json& object) {
  object["ns"] = time.ns;
  object["raw_ns"] = time.rawNs;
  object["low_ns"] = time.lowNs;
  object["high_ns"] = time.highNs;
}

json trafficJson(const JobReport& report) {
  json rows = json::array();
  for (const metrics::PeerTraffic& row : report.traffic)
    rows.push_back({{"rank", orNull(row.rank)},
                    {"peer", row.peer},
                    {"kind", row.kind},
                    {"sent_bytes", row.sentBytes},
                    {"received_bytes", row.receivedBytes},
                    {"transfers", row.transfers}});
  return rows;
}

json metadataJson(const metrics::RunFacts& facts) {
  json rows = json::array();
  for (const metrics::Metadata& each : facts.metadata)
    rows.push_back({{"rank", orNull(each.rank)}, {"key", each.key}, {"value", each.value}});
  return rows;
}

// The rank's iterations and operations.
void addTimes(const RankReport& rank, std::int64_t originNs, json& document) {
  for (std::size_t at = 0; at < rank.iterationTimes.size(); ++at) {
    const metrics::IterationTime& iteration = rank.process.iterations[at];
    document["iterations"].push_back({{"rank", orNull(rank.process.rank)},
                                      {"number", iteration.number},
                                      {"start_ns", iteration.startNs - originNs}});
    addTime(rank.iterationTimes[at], document["iterations"].back());
  }
  for (std::size_t at = 0; at < rank.operations.size(); ++at) {
    const metrics::OperationTime& operation = rank.operations[at];
    document["operations"].push_back({{"rank", orNull(rank.process.rank)},
                                      {"kind", operation.kind},
                                      {"name", operation.name},
                                      {"count", operation.count},
                                      {"p50_ns", operation.p50Ns},
                                      {"p95_ns", operation.p95Ns},
                                      {"p99_ns", operation.p99Ns},
                                      {"share", operation.share}});
    addTime(rank.operationTimes[at], document["operations"].back());
  }
}

}  // namespace

json reportJson(const JobReport& report, bool full) {
  json document = {
      {"schema", 1},
      {"origin_ns", std::to_string(report.facts.originNs)},
      {"job", report.facts.job},
      {"command", report.facts.command},
      {"wall_ns", report.facts.wallNs},
      {"replayed", report.facts.replayed.empty() ? json() : json(report.facts.replayed)},
      {"standstill", standstillJson(report.standstill)},
      {"metadata", metadataJson(report.facts)},
      {"ranks", json::array()},
      {"iterations", json::array()},
      {"operations", json::array()},
      {"traffic", trafficJson(report)},
      {"scalars", json::array()},
      {"threads", threadsJson(report)},
      {"python", pythonJson(report)},
      {"throughput", throughputJson(report)},
      {"recording_cost", costJson(report.recordingCost)},
      {"critical_path", pathJson(report.path)},
      {"dropped", json::object()}};
  for (const RankReport& rank : report.ranks) {
    document["ranks"].push_back(rankJson(rank));
    addTimes(rank, report.facts.originNs, document);
  }
  for (const metrics::ScalarTrend& trend : report.scalars)
    document["scalars"].push_back({{"rank", orNull(trend.rank)},
                                   {"name", trend.name},
                                   {"count", trend.count},
                                   {"first", orNull(trend.first)},
                                   {"last", orNull(trend.last)}});
  std::map<std::string, std::int64_t> dropped;
  for (const metrics::LostRecords& lost : report.facts.lost)
    dropped[lost.reason] += lost.count;
  document["dropped"] = std::move(dropped);
  document["warnings"] = json::array();
  for (const metrics::Warning& warning : report.facts.warnings)
    document["warnings"].push_back({{"at_ns", orNull(warning.atNs)}, {"text", warning.text}});
  document["recorder"] = {{"cpu_s", orNull(report.facts.recorderCpuSeconds)},
                          {"bytes", orNull(report.facts.recorderBytes)},
                          {"rss_bytes", orNull(report.facts.recorderRssBytes)},
                          {"events", report.facts.events}};
  const metrics::Conservation& sum = report.conservation;
  document["conservation"] = {{"pairs", sum.pairs},
                              {"exact_pairs", sum.exactPairs},
                              {"agreeing_pairs", sum.agreeingPairs},
                              {"sent_bytes", sum.sentBytes},
                              {"missing_bytes", sum.missingBytes},
                              {"unsent_bytes", sum.unsentBytes}};
  addDevicesJson(document, report, full);
  addUsageJson(document, report.usage, report.facts.originNs);
  return document;
}

}  // namespace sonde::cli
