#include "analysis/ingest/spool/plugin_rows.h"

#include "analysis/ingest/rows/wire_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::ingest {
namespace {

// `loss.reason` and `note.source`: includes the plugin's name if it is known.
std::string reasonOf(const std::string& name) {
  return name.empty() ? "plugin" : "plugin " + name;
}

// The function that was called, and what was wrong: "…: is not open here".
std::string whatWasWrong(std::size_t call, std::size_t mistake) {
  return fmt::format("{}: {}",
                     pluginCallWord(static_cast<wire::PluginCall>(call)),
                     mistakeWord(static_cast<wire::PluginMistake>(mistake)));
}

}  // namespace

void PluginRows::definePlugin(const wire::PluginDefinition& definition) {
  Plugin& plugin = plugins_[definition.number];
  plugin.name = dictionary_.text(definition.name);
  plugin.category = keepCategory(dictionary_.text(definition.category));
  if (!known_.insert(definition.number).second)
    return;
  sink_.setState(spool_, kKnown, definition.number, std::int64_t{1});
  const std::string text = fmt::format("{} {}", plugin.name, dictionary_.text(definition.version));
  sink_.add(model::Arg{model::Owner::Process,
                       process_.row.id.value,
                       sink_.intern("sonde.plugin"),
                       std::string_view(text)});
}

void PluginRows::defineCounter(const wire::CounterDefinition& definition) {
  if (counters_.contains(definition.id))
    return;
  model::Counter row;
  row.hostId = process_.row.hostId;
  row.processId = process_.row.id;
  row.nameId = dictionary_.name(sink_, definition.name);
  row.unit = dictionary_.text(definition.unit);
  const model::CounterId id = sink_.add(row);
  counters_.emplace(definition.id, id);
  sink_.setState(spool_, kCounter, definition.id, id.value);
}

bool PluginRows::addValue(const wire::CounterValue& record, std::int64_t ns) {
  const auto counter = counters_.find(record.header.subject);
  if (counter == counters_.end())
    return false;
  sink_.add(model::Sample{counter->second, ns, record.value});
  return true;
}

bool PluginRows::addNote(const wire::Note& record, std::int64_t ns) {
  const auto severity = static_cast<model::Severity>(record.header.detail);
  if (model::word(severity).empty())
    return false;
  const auto plugin = plugins_.find(record.plugin);
  model::Note note;
  note.tsNs = ns;
  note.processId = process_.row.id;
  note.severity = severity;
  const std::string source = reasonOf(plugin == plugins_.end() ? "" : plugin->second.name);
  note.source = source;
  note.text = dictionary_.text(record.header.subject);
  sink_.add(note);
  return true;
}

void PluginRows::addLosses(const PluginLossTable& losses) {
  for (std::size_t number = 0; number < losses.size(); ++number) {
    const auto plugin = plugins_.find(static_cast<std::uint32_t>(number));
    const bool isKnown = plugin != plugins_.end();
    const std::string name(isKnown ? plugin->second.name : probeWord(wire::Probe::Plugin));
    addLossesOf(name, reasonOf(isKnown ? name : ""), losses[number]);
  }
}

void PluginRows::addLossesOf(const std::string& name,
                             const std::string& reason,
                             const PluginLossTable::value_type& losses) {
  for (std::size_t call = 0; call < losses.size(); ++call)
    for (std::size_t mistake = 0; mistake < losses[call].size(); ++mistake) {
      const auto count = std::min<std::uint64_t>(losses[call][mistake], INT64_MAX);
      if (count == 0)
        continue;
      const std::string kind = whatWasWrong(call, mistake);
      sink_.add(model::Loss{name, kind, static_cast<std::int64_t>(count), reason, process_.row.id});
    }
}

std::string_view PluginRows::category(std::uint8_t number) const {
  const auto plugin = plugins_.find(number);
  return plugin == plugins_.end() ? probeWord(wire::Probe::Plugin) : plugin->second.category;
}

std::string_view PluginRows::keepCategory(std::string_view word) {
  const auto known = categories_.find(word);
  return known != categories_.end() ? *known : *categories_.emplace(word).first;
}

}  // namespace sonde::ingest
