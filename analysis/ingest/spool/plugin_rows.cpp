#include "analysis/ingest/spool/plugin_rows.h"

#include "analysis/ingest/rows/record_walk.h"

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
  plugin.name = image_.dictionary.text(definition.name);
  plugin.category = keepCategory(image_.dictionary.text(definition.category));
  if (!known_.insert(definition.number).second)
    return;
  image_.sink.setState(image_.spool, kKnown, definition.number, std::int64_t{1});
  const std::string text =
      fmt::format("{} {}", plugin.name, image_.dictionary.text(definition.version));
  image_.sink.add(model::Arg{model::Owner::Process,
                             image_.process.row.id.value,
                             image_.sink.intern("sonde.plugin"),
                             std::string_view(text)});
}

void PluginRows::defineCounter(const wire::CounterDefinition& definition) {
  if (counters_.contains(definition.id))
    return;
  model::Counter row;
  row.hostId = image_.process.row.hostId;
  row.processId = image_.process.row.id;
  row.nameId = image_.name(definition.name);
  row.unit = image_.dictionary.text(definition.unit);
  const model::CounterId id = image_.sink.add(row);
  counters_.emplace(definition.id, id);
  image_.sink.setState(image_.spool, kCounter, definition.id, id.value);
}

void PluginRows::onCounterValue(ImageThread&, const std::byte* at) {
  const auto record = loadRecord<wire::CounterValue>(at);
  const std::int64_t ns = image_.happened(record.ticks);
  const auto counter = counters_.find(record.header.subject);
  if (counter == counters_.end())
    ++image_.counts.damaged;
  else
    image_.sink.add(model::Sample{counter->second, ns, record.value});
}

void PluginRows::onNote(ImageThread&, const std::byte* at) {
  const auto record = loadRecord<wire::Note>(at);
  const std::int64_t ns = image_.happened(record.ticks);
  const auto severity = static_cast<model::Severity>(record.header.detail);
  if (model::word(severity).empty()) {
    ++image_.counts.damaged;
    return;
  }
  const auto plugin = plugins_.find(record.plugin);
  model::Note note;
  note.tsNs = ns;
  note.processId = image_.process.row.id;
  note.severity = severity;
  const std::string source = reasonOf(plugin == plugins_.end() ? "" : plugin->second.name);
  note.source = source;
  note.text = image_.dictionary.text(record.header.subject);
  image_.sink.add(note);
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
      image_.sink.add(
          model::Loss{name, kind, static_cast<std::int64_t>(count), reason, image_.process.row.id});
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
