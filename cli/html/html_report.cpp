#include "cli/html/html_report.h"

#include "analysis/engine/diff/hardware.h"
#include "cli/html/html_sections.h"
#include "cli/html/style.h"
#include "generated/version.h"
#include "rules/configuration/configuration.h"
#include "rules/facts/process_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::cli {
namespace {

struct SectionOfPage {
  const char* id;
  const char* title;  // in the navigation
  bool (*add)(Page& page, const HtmlValues& values);
};

constexpr SectionOfPage kSections[] = {
    {"iterations", "Iterations", addIterations},
    {"time", "Time", addTimes},
    {"operations", "Operations", addOperations},
    {"devices", "Devices", addDevices},
    {"communication", "Communication", addCommunication},
    {"stalls", "Loaders and files", addStalls},
    {"memory", "Memory", addMemory},
    {"values", "Values", addScalars},
    {"energy", "Energy", addEnergy},
    {"recording", "Recording", addRecording},
};

std::vector<ScalarCurve> curvesOf(const rules::RunFacts& run) {
  std::vector<ScalarCurve> curves;
  for (const rules::ProcessFacts* process : run.processes())
    for (const auto& [name, series] : process->scalars) {
      ScalarCurve curve{process->name, name, {}};
      for (const rules::SeriesValue& each : series.values)
        curve.values.push_back({each.iteration, each.value});
      if (!curve.values.empty())
        curves.push_back(std::move(curve));
    }
  std::stable_sort(curves.begin(), curves.end(), [](const ScalarCurve& a, const ScalarCurve& b) {
    return a.name < b.name;
  });
  return curves;
}

void addNavigation(Page& page, const std::vector<const SectionOfPage*>& sections) {
  page.begin("div", {{"class", "column"}}).begin("nav");
  page.element("a", "Verdicts", {{"href", "#verdicts"}});
  for (const SectionOfPage* section : sections)
    page.element("a", section->title, {{"href", fmt::format("#{}", section->id)}});
  page.end().end();
}

}  // namespace

Result<HtmlValues> readHtmlValues(const store::Database& trace,
                                  engine::report::JobReport report,
                                  const Progress& progress) {
  HtmlValues values;
  values.report = std::move(report);
  SONDE_TRY_ASSIGN(const rules::Configuration configuration, rules::defaultConfiguration(""));
  SONDE_TRY_ASSIGN(values.check, rules::check(trace, configuration, progress));
  SONDE_TRY_ASSIGN(const auto hardware, engine::diff::readHardware(trace));
  values.hardware = engine::diff::textOf(hardware);
  SONDE_TRY_ASSIGN(const rules::RunFacts run, rules::RunFacts::read(trace));
  values.scalars = curvesOf(run);
  return values;
}

std::string htmlReport(const HtmlValues& values) {
  // The navigation lists the sections that the job has, so these come first.
  Page body;
  std::vector<const SectionOfPage*> sections;
  for (const SectionOfPage& section : kSections)
    if (section.add(body, values))
      sections.push_back(&section);
  const std::string& command = values.report.facts.command;
  Page page;
  page.markup("<!DOCTYPE html>\n").begin("html", {{"lang", "en"}}).begin("head");
  page.empty("meta", {{"charset", "utf-8"}});
  page.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  page.element("title", fmt::format("Sonde report: {}", command.empty() ? "a job" : command));
  page.begin("style").markup(kReportStyle).end().end().begin("body");
  addHead(page, values);
  addNavigation(page, sections);
  page.begin("main");
  addVerdicts(page, values.check);
  page.markup(body.finished()).end();
  page.element("footer",
               fmt::format("Written by sonde report, version {}. The same numbers: sonde "
                           "report --format json, sonde check --format json.",
                           kVersion));
  page.end().end();
  return page.finished();
}

}  // namespace sonde::cli
