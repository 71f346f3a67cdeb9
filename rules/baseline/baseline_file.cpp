#include "rules/baseline/baseline_file.h"

#include "analysis/engine/diff/bounded_runs.h"
#include "rules/baseline/baseline_document.h"
#include "rules/baseline/json_place.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::rules {
namespace {

namespace diff = engine::diff;
using nlohmann::json;

constexpr std::string_view kKind = "sonde-baseline";
constexpr std::size_t kMostNameBytes = 64 << 10;  // names of kernels may be long
constexpr std::size_t kMostHosts = 10'000;
constexpr std::int64_t kMostNs = 100'000'000'000'000'000;  // three years
constexpr std::int64_t kMostCount = 1'000'000'000;
constexpr diff::Kind kLastKind = diff::Kind::Category;

json jsonOf(const diff::HostModel& host) {
  json gpus = json::array();
  for (const diff::GpuModel& gpu : host.gpus)
    gpus.push_back({{"name", gpu.name}, {"memory_bytes", gpu.memoryBytes}});
  return {{"cpu", host.cpu}, {"cores", host.cores}, {"gpus", std::move(gpus)}};
}

json jsonOf(const diff::RunTimes& run, const diff::Subject& subject) {
  json times = json::array();
  for (const double each : run.times.at(subject))
    times.push_back(static_cast<std::int64_t>(each));
  const auto error = run.errors.find(subject);
  return {{"kind", diff::word(subject.kind)},
          {"rank", subject.rank ? json(*subject.rank) : json(nullptr)},
          {"name", subject.name ? json(*subject.name) : json(nullptr)},
          {"error_ns",
           error == run.errors.end() || error->second.empty() ? json(nullptr)
                                                              : json(error->second.front())},
          {"ns", std::move(times)}};
}

json jsonOf(const BaselineFileRun& run) {
  const diff::CostSource& costs = run.times.costs;
  json subjects = json::array();
  for (const auto& [subject, times] : run.times.times)
    subjects.push_back(jsonOf(run.times, subject));
  return {{"name", run.name},
          {"iterations", run.times.iterations},
          {"ranks", run.times.ranks},
          {"warm_up", run.times.warmUp},
          {"partial", run.times.partial},
          {"costs",
           {{"known", costs.known},
            {"own_run", costs.ownRun},
            {"noise", costs.noise},
            {"recorder", costs.recorder}}},
          {"subjects", std::move(subjects)}};
}

Result<std::int64_t> wholeAt(const JsonPlace& place,
                             const std::string& key,
                             std::int64_t most = kMostCount) {
  SONDE_TRY_ASSIGN(const JsonPlace member, place.member(key));
  return member.whole(0, most);
}

Result<std::string> textAt(const JsonPlace& place, const std::string& key) {
  SONDE_TRY_ASSIGN(const JsonPlace member, place.member(key));
  return member.text(kMostNameBytes);
}

Result<diff::HostModel> readHost(const JsonPlace& place) {
  SONDE_TRY(place.onlyHas({"cpu", "cores", "gpus"}));
  diff::HostModel host;
  SONDE_TRY_ASSIGN(host.cpu, textAt(place, "cpu"));
  SONDE_TRY_ASSIGN(host.cores, wholeAt(place, "cores"));
  SONDE_TRY_ASSIGN(const JsonPlace gpus, place.member("gpus"));
  SONDE_TRY_ASSIGN(const std::size_t count, gpus.size(0, kMostHosts));
  for (std::size_t i = 0; i < count; ++i) {
    const JsonPlace gpu = gpus.element(i);
    SONDE_TRY(gpu.onlyHas({"name", "memory_bytes"}));
    diff::GpuModel& model = host.gpus.emplace_back();
    SONDE_TRY_ASSIGN(model.name, textAt(gpu, "name"));
    SONDE_TRY_ASSIGN(model.memoryBytes, wholeAt(gpu, "memory_bytes", INT64_MAX));
  }
  return host;
}

Result<diff::Kind> readKind(const JsonPlace& place) {
  SONDE_TRY_ASSIGN(const std::string text, place.text(kMostNameBytes));
  std::string known;
  for (auto kind = diff::Kind::Iteration;;
       kind = static_cast<diff::Kind>(static_cast<int>(kind) + 1)) {
    if (text == diff::word(kind))
      return kind;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", diff::word(kind));
    if (kind == kLastKind)
      return place.refuse("one of " + known);
  }
}

Result<diff::Subject> readSubject(const JsonPlace& place) {
  diff::Subject subject;
  SONDE_TRY_ASSIGN(const JsonPlace kind, place.member("kind"));
  SONDE_TRY_ASSIGN(subject.kind, readKind(kind));
  SONDE_TRY_ASSIGN(const JsonPlace rank, place.member("rank"));
  if (!rank.isNull()) {
    SONDE_TRY_ASSIGN(subject.rank, rank.whole(INT64_MIN, INT64_MAX));
  }
  SONDE_TRY_ASSIGN(const JsonPlace name, place.member("name"));
  if (!name.isNull()) {
    SONDE_TRY_ASSIGN(subject.name, name.text(kMostNameBytes));
  }
  return subject;
}

Result<void> readTimes(const JsonPlace& place, diff::RunTimes& run) {
  SONDE_TRY(place.onlyHas({"kind", "rank", "name", "error_ns", "ns"}));
  SONDE_TRY_ASSIGN(const diff::Subject subject, readSubject(place));
  if (run.times.contains(subject))
    return place.refuse("there once");
  SONDE_TRY_ASSIGN(const JsonPlace ns, place.member("ns"));
  SONDE_TRY(ns.size(run.iterations, run.iterations));
  std::vector<double>& times = run.times[subject];
  for (std::size_t i = 0; i < run.iterations; ++i) {
    SONDE_TRY_ASSIGN(const std::int64_t each, ns.element(i).whole(0, kMostNs));
    times.push_back(static_cast<double>(each));
  }
  SONDE_TRY_ASSIGN(const JsonPlace error, place.member("error_ns"));
  if (error.isNull())
    return {};
  SONDE_TRY_ASSIGN(const double each, error.number(0, static_cast<double>(kMostNs)));
  run.errors[subject].assign(run.iterations, each);
  return {};
}

Result<diff::CostSource> readCosts(const JsonPlace& place) {
  SONDE_TRY(place.onlyHas({"known", "own_run", "noise", "recorder"}));
  diff::CostSource costs;
  SONDE_TRY_ASSIGN(const JsonPlace known, place.member("known"));
  SONDE_TRY_ASSIGN(costs.known, known.flag());
  SONDE_TRY_ASSIGN(const JsonPlace ownRun, place.member("own_run"));
  SONDE_TRY_ASSIGN(costs.ownRun, ownRun.flag());
  SONDE_TRY_ASSIGN(const JsonPlace noise, place.member("noise"));
  SONDE_TRY_ASSIGN(costs.noise, noise.number(0, 1));
  SONDE_TRY_ASSIGN(costs.recorder, textAt(place, "recorder"));
  return costs;
}

Result<BaselineFileRun> readRun(const JsonPlace& place) {
  SONDE_TRY(
      place.onlyHas({"name", "iterations", "ranks", "warm_up", "partial", "costs", "subjects"}));
  BaselineFileRun run;
  SONDE_TRY_ASSIGN(run.name, textAt(place, "name"));
  SONDE_TRY_ASSIGN(const std::int64_t iterations,
                   wholeAt(place, "iterations", diff::kMostBaselineIterations));
  SONDE_TRY_ASSIGN(const std::int64_t ranks, wholeAt(place, "ranks"));
  SONDE_TRY_ASSIGN(const std::int64_t warmUp, wholeAt(place, "warm_up"));
  SONDE_TRY_ASSIGN(const std::int64_t partial, wholeAt(place, "partial"));
  run.times.iterations = static_cast<std::size_t>(iterations);
  run.times.ranks = static_cast<std::size_t>(ranks);
  run.times.warmUp = static_cast<std::size_t>(warmUp);
  run.times.partial = static_cast<std::size_t>(partial);
  SONDE_TRY_ASSIGN(const JsonPlace costs, place.member("costs"));
  SONDE_TRY_ASSIGN(run.times.costs, readCosts(costs));
  SONDE_TRY_ASSIGN(const JsonPlace subjects, place.member("subjects"));
  const std::size_t kinds = static_cast<std::size_t>(kLastKind) + 1;
  SONDE_TRY_ASSIGN(const std::size_t count, subjects.size(1, kinds * diff::kMostBaselineSubjects));
  bool hasIteration = false;
  for (std::size_t i = 0; i < count; ++i)
    SONDE_TRY(readTimes(subjects.element(i), run.times));
  for (const auto& [subject, times] : run.times.times)
    hasIteration = hasIteration || subject.kind == diff::Kind::Iteration;
  if (!hasIteration)
    return subjects.refuse("a list with the kind iteration");
  return run;
}

Result<void> readHead(const JsonPlace& place, BaselineFile& baseline) {
  SONDE_TRY_ASSIGN(const JsonPlace kind, place.member("kind"));
  SONDE_TRY_ASSIGN(const std::string kindWord, kind.text(kMostNameBytes));
  if (kindWord != kKind)
    return kind.refuse(fmt::format("\"{}\"", kKind));
  SONDE_TRY_ASSIGN(const JsonPlace schema, place.member("schema"));
  SONDE_TRY(schema.whole(1, 1));
  SONDE_TRY(place.onlyHas({"schema", "kind", "created", "by", "hardware", "runs"}));
  SONDE_TRY_ASSIGN(baseline.created, textAt(place, "created"));
  SONDE_TRY_ASSIGN(const JsonPlace by, place.member("by"));
  SONDE_TRY_ASSIGN(const std::size_t words, by.size(0, 6));
  for (std::size_t i = 0; i < words; ++i) {
    SONDE_TRY_ASSIGN(std::string word, by.element(i).text(kMostNameBytes));
    if (const auto known = diff::dimensionsOf({word}); !known)
      return by.element(i).refuse("a word of --by");
    baseline.by.push_back(std::move(word));
  }
  return {};
}

}  // namespace

std::string renderBaseline(const BaselineFile& baseline) {
  json hardware = json::array();
  for (const diff::HostModel& host : baseline.hardware)
    hardware.push_back(jsonOf(host));
  json runs = json::array();
  for (const BaselineFileRun& run : baseline.runs)
    runs.push_back(jsonOf(run));
  const json document = {{"schema", 1},
                         {"kind", kKind},
                         {"created", baseline.created},
                         {"by", baseline.by},
                         {"hardware", std::move(hardware)},
                         {"runs", std::move(runs)}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<BaselineFile> readBaselineFile(const std::string& path) {
  SONDE_TRY_ASSIGN(const json document, readBaselineDocument(path));
  return readBaselineFile(path, document);
}

Result<BaselineFile> readBaselineFile(const std::string& path, const json& document) {
  const JsonPlace place(path, document, "accept");
  BaselineFile baseline;
  SONDE_TRY(readHead(place, baseline));
  SONDE_TRY_ASSIGN(const JsonPlace hardware, place.member("hardware"));
  SONDE_TRY_ASSIGN(const std::size_t hosts, hardware.size(0, kMostHosts));
  for (std::size_t i = 0; i < hosts; ++i) {
    SONDE_TRY_ASSIGN(diff::HostModel host, readHost(hardware.element(i)));
    baseline.hardware.push_back(std::move(host));
  }
  baseline.hardware = diff::joined({baseline.hardware});
  SONDE_TRY_ASSIGN(const JsonPlace runs, place.member("runs"));
  SONDE_TRY_ASSIGN(const std::size_t count, runs.size(1, diff::kMostBaselineRuns));
  for (std::size_t i = 0; i < count; ++i) {
    SONDE_TRY_ASSIGN(BaselineFileRun run, readRun(runs.element(i)));
    baseline.runs.push_back(std::move(run));
  }
  return baseline;
}

}  // namespace sonde::rules
