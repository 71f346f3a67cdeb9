#include "rules/baseline/learned_file.h"

#include "rules/baseline/json_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace sonde::rules {
namespace {

using nlohmann::json;

constexpr std::size_t kMostTextBytes = 1 << 20;  // an order has many names
constexpr std::size_t kMostInvariants = 1'000'000;
constexpr std::int64_t kMostIteration = std::int64_t{1} << 53;
constexpr double kMostNumber = std::numeric_limits<double>::max();

json jsonOf(const OneOf& form) {
  return {{"values", form.values}, {"from", form.from}};
}

json jsonOf(const Path& form) {
  json values = json::array();
  for (const double value : form.values)
    values.push_back(std::isnan(value) ? json(nullptr) : json(value));
  return {{"first", form.first}, {"values", std::move(values)}};
}

json jsonOf(const Law& form) {
  json factors = json::array();
  for (const UpdateFactors& each : form.factors)
    factors.push_back(std::isnan(each.front()) ? json(nullptr) : json(each));
  return {{"first", form.first}, {"factors", std::move(factors)}};
}

json jsonOf(const Range& form) {
  json stages = json::array();
  for (const Stage& each : form.stages)
    stages.push_back(json::array({each.first, each.last, each.low, each.high}));
  return stages;
}

const char* memberOf(const OneOf&) {
  return "one_of";
}
const char* memberOf(const Path&) {
  return "path";
}
const char* memberOf(const Law&) {
  return "law";
}
const char* memberOf(const Range&) {
  return "range";
}

json jsonOf(const Invariant& invariant) {
  json object = {{"kind", invariant.key.kind},
                 {"subject", invariant.key.subject},
                 {"measure", invariant.key.measure},
                 {"source", invariant.source},
                 {"samples", invariant.samples}};
  std::visit([&](const auto& form) { object[memberOf(form)] = jsonOf(form); }, invariant.form);
  return object;
}

Result<std::string> learnedText(const JsonPlace& place, const std::string& key) {
  SONDE_TRY_ASSIGN(const JsonPlace member, place.member(key));
  return member.text(kMostTextBytes);
}

Result<std::int64_t> learnedWhole(const JsonPlace& place,
                                  const std::string& key,
                                  std::int64_t least,
                                  std::int64_t most) {
  SONDE_TRY_ASSIGN(const JsonPlace member, place.member(key));
  return member.whole(least, most);
}

Result<OneOf> readOneOf(const JsonPlace& place) {
  SONDE_TRY(place.onlyHas({"values", "from"}));
  OneOf form;
  SONDE_TRY_ASSIGN(form.from, learnedWhole(place, "from", 0, kLearnedWarmUp));
  SONDE_TRY_ASSIGN(const JsonPlace values, place.member("values"));
  SONDE_TRY_ASSIGN(const std::size_t count, values.size(1, kMostValues));
  for (std::size_t i = 0; i < count; ++i) {
    SONDE_TRY_ASSIGN(std::string value, values.element(i).text(kMostTextBytes));
    form.values.push_back(std::move(value));
  }
  return form;
}

Result<Path> readPath(const JsonPlace& place) {
  SONDE_TRY(place.onlyHas({"first", "values"}));
  Path form;
  SONDE_TRY_ASSIGN(form.first, learnedWhole(place, "first", -kMostIteration, kMostIteration));
  SONDE_TRY_ASSIGN(const JsonPlace values, place.member("values"));
  SONDE_TRY_ASSIGN(const std::size_t count, values.size(1, kMostObserved));
  for (std::size_t i = 0; i < count; ++i) {
    const JsonPlace each = values.element(i);
    if (each.isNull()) {
      form.values.push_back(std::nan(""));
      continue;
    }
    SONDE_TRY_ASSIGN(const double value, each.number(-kMostNumber, kMostNumber));
    form.values.push_back(value);
  }
  return form;
}

Result<UpdateFactors> readFactors(const JsonPlace& place) {
  const double unknown = std::nan("");
  UpdateFactors factors = {unknown, unknown, unknown};
  if (place.isNull())
    return factors;
  SONDE_TRY(place.size(factors.size(), factors.size()));
  for (std::size_t i = 0; i < factors.size(); ++i) {
    SONDE_TRY_ASSIGN(factors[i], place.element(i).number(-kMostNumber, kMostNumber));
  }
  return factors;
}

Result<Law> readLaw(const JsonPlace& place) {
  SONDE_TRY(place.onlyHas({"first", "factors"}));
  Law form;
  SONDE_TRY_ASSIGN(form.first, learnedWhole(place, "first", -kMostIteration, kMostIteration));
  SONDE_TRY_ASSIGN(const JsonPlace factors, place.member("factors"));
  SONDE_TRY_ASSIGN(const std::size_t count, factors.size(1, kMostObserved));
  for (std::size_t i = 0; i < count; ++i) {
    SONDE_TRY_ASSIGN(const UpdateFactors each, readFactors(factors.element(i)));
    form.factors.push_back(each);
  }
  return form;
}

Result<Stage> readStage(const JsonPlace& place) {
  SONDE_TRY(place.size(4, 4));
  Stage stage;
  SONDE_TRY_ASSIGN(stage.first, place.element(0).whole(-kMostIteration, kMostIteration));
  SONDE_TRY_ASSIGN(stage.last, place.element(1).whole(stage.first, kMostIteration));
  SONDE_TRY_ASSIGN(stage.low, place.element(2).number(-kMostNumber, kMostNumber));
  SONDE_TRY_ASSIGN(stage.high, place.element(3).number(stage.low, kMostNumber));
  return stage;
}

Result<Range> readRange(const JsonPlace& place) {
  Range form;
  SONDE_TRY_ASSIGN(const std::size_t count, place.size(1, kMostObserved));
  for (std::size_t i = 0; i < count; ++i) {
    SONDE_TRY_ASSIGN(const Stage stage, readStage(place.element(i)));
    if (i > 0 && stage.first <= form.stages.back().last)
      return place.element(i).refuse("after the stage before it");
    form.stages.push_back(stage);
  }
  return form;
}

Result<void> readForm(const JsonPlace& place, Invariant& invariant) {
  if (const auto oneOf = place.member("one_of")) {
    SONDE_TRY_ASSIGN(invariant.form, readOneOf(*oneOf));
    return place.onlyHas({"kind", "subject", "measure", "source", "samples", "one_of"});
  }
  if (const auto path = place.member("path")) {
    SONDE_TRY_ASSIGN(invariant.form, readPath(*path));
    return place.onlyHas({"kind", "subject", "measure", "source", "samples", "path"});
  }
  if (const auto law = place.member("law")) {
    SONDE_TRY_ASSIGN(invariant.form, readLaw(*law));
    return place.onlyHas({"kind", "subject", "measure", "source", "samples", "law"});
  }
  if (const auto range = place.member("range")) {
    SONDE_TRY_ASSIGN(invariant.form, readRange(*range));
    return place.onlyHas({"kind", "subject", "measure", "source", "samples", "range"});
  }
  return place.refuse("an object with 'one_of', 'path', 'law' or 'range'");
}

Result<std::string> readObservationKind(const JsonPlace& place) {
  SONDE_TRY_ASSIGN(const std::string text, place.text(kMostTextBytes));
  const auto& known = observationKinds();
  if (std::find(known.begin(), known.end(), text) == known.end())
    return place.refuse(fmt::format("one of {}", fmt::join(known, ", ")));
  return text;
}

Result<Invariant> readInvariant(const JsonPlace& place) {
  Invariant invariant;
  SONDE_TRY_ASSIGN(const JsonPlace kind, place.member("kind"));
  SONDE_TRY_ASSIGN(invariant.key.kind, readObservationKind(kind));
  SONDE_TRY_ASSIGN(invariant.key.subject, learnedText(place, "subject"));
  SONDE_TRY_ASSIGN(invariant.key.measure, learnedText(place, "measure"));
  SONDE_TRY_ASSIGN(invariant.source, learnedText(place, "source"));
  SONDE_TRY_ASSIGN(invariant.samples, learnedWhole(place, "samples", 0, kMostIteration));
  SONDE_TRY(readForm(place, invariant));
  return invariant;
}

Result<void> readDroppedOf(const JsonPlace& place, std::map<std::string, std::int64_t>& counts) {
  SONDE_TRY(place.onlyHas({wordOf(Dropped::NotInEveryRun),
                           wordOf(Dropped::TooFewSamples),
                           wordOf(Dropped::Varies),
                           wordOf(Dropped::NotFinite),
                           wordOf(Dropped::NoLaw),
                           wordOf(Dropped::BrokenByHeldOut)}));
  for (const Dropped reason : kDroppedReasons)
    if (const auto count = place.member(wordOf(reason))) {
      SONDE_TRY_ASSIGN(counts[wordOf(reason)], count->whole(0, kMostIteration));
    }
  return {};
}

Result<void> readDropped(const JsonPlace& place, LearnedInvariants& learned) {
  SONDE_TRY(place.onlyHas(
      {"order", "calls", "names", "arguments", "layout", "ranks", "updates", "scalars", "values"}));
  for (const std::string& kind : observationKinds())
    if (const auto counts = place.member(kind)) {
      SONDE_TRY(readDroppedOf(*counts, learned.dropped[kind]));
    }
  return {};
}

Result<void> readLearnedHead(const JsonPlace& place, LearnedFile& file) {
  SONDE_TRY_ASSIGN(const JsonPlace kind, place.member("kind"));
  SONDE_TRY_ASSIGN(const std::string kindWord, kind.text(kMostTextBytes));
  if (kindWord != kLearnedKind)
    return kind.refuse(fmt::format("\"{}\"", kLearnedKind));
  SONDE_TRY(learnedWhole(place, "schema", 1, 1));
  SONDE_TRY(
      place.onlyHas({"schema", "kind", "created", "runs", "iterations", "dropped", "invariants"}));
  SONDE_TRY_ASSIGN(file.created, learnedText(place, "created"));
  SONDE_TRY_ASSIGN(file.learned.iterations, learnedWhole(place, "iterations", 1, kMostIteration));
  SONDE_TRY_ASSIGN(const JsonPlace runs, place.member("runs"));
  SONDE_TRY_ASSIGN(const std::size_t count, runs.size(kLeastLearnedRuns, kMostLearnedRuns));
  for (std::size_t i = 0; i < count; ++i) {
    SONDE_TRY_ASSIGN(std::string name, runs.element(i).text(kMostTextBytes));
    file.learned.runs.push_back(std::move(name));
  }
  SONDE_TRY_ASSIGN(const JsonPlace dropped, place.member("dropped"));
  return readDropped(dropped, file.learned);
}

}  // namespace

std::string renderLearned(const LearnedFile& file) {
  json invariants = json::array();
  for (const Invariant& each : file.learned.invariants)
    invariants.push_back(jsonOf(each));
  const json document = {{"schema", 1},
                         {"kind", kLearnedKind},
                         {"created", file.created},
                         {"runs", file.learned.runs},
                         {"iterations", file.learned.iterations},
                         {"dropped", file.learned.dropped},
                         {"invariants", std::move(invariants)}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<LearnedFile> readLearnedFile(const std::string& path, const json& document) {
  const JsonPlace place(path, document, "learn");
  LearnedFile file;
  SONDE_TRY(readLearnedHead(place, file));
  SONDE_TRY_ASSIGN(const JsonPlace invariants, place.member("invariants"));
  SONDE_TRY_ASSIGN(const std::size_t count, invariants.size(1, kMostInvariants));
  for (std::size_t i = 0; i < count; ++i) {
    SONDE_TRY_ASSIGN(Invariant each, readInvariant(invariants.element(i)));
    file.learned.invariants.push_back(std::move(each));
  }
  return file;
}

}  // namespace sonde::rules
