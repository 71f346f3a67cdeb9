// Makes rows of external probes' records: counters with samples, notes, and failed calls. Knows the
// category of their slices.
//
// Part of one ImageBuilder, on its thread. After a restart of the recorder definitions come again.
#pragma once

#include "analysis/ingest/spool/image_context.h"
#include "analysis/model/account.h"
#include "collector/wire/definitions.h"
#include "collector/wire/plugin_misuse.h"
#include "collector/wire/records.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace sonde::ingest {

using PluginLossTable = std::array<
    std::array<std::array<std::uint64_t, static_cast<std::size_t>(wire::PluginMistake::Count)>,
               static_cast<std::size_t>(wire::PluginCall::Count)>,
    wire::kMaxPlugins + 1>;

class PluginRows {
 public:
  // The kinds of state that the restore…() functions read.
  static constexpr std::string_view kCounter = "plugin counter";
  static constexpr std::string_view kKnown = "plugin";

  explicit PluginRows(ImageContext& image) : image_(image) {}

  void definePlugin(const wire::PluginDefinition& definition);
  void defineCounter(const wire::CounterDefinition& definition);

  // Handlers of records.
  void onCounterValue(ImageThread& thread, const std::byte* at);
  void onNote(ImageThread& thread, const std::byte* at);
  // One row for each plugin and mistake, with probe, function and plugin.
  void addLosses(const PluginLossTable& losses);

  // The category of the slices of the plugin with this number. Both results live as long as this
  // object.
  std::string_view category(std::uint8_t number) const;
  std::string_view keepCategory(std::string_view word);

  void restoreCounter(std::uint32_t id, model::CounterId row) { counters_[id] = row; }
  void restoreKnown(std::uint32_t number) { known_.insert(number); }

 private:
  struct Plugin {
    std::string name;
    std::string_view category;
  };

  void addLossesOf(const std::string& name,
                   const std::string& reason,
                   const PluginLossTable::value_type& losses);

  ImageContext& image_;
  std::map<std::uint32_t, Plugin> plugins_;
  std::set<std::uint32_t> known_;  // those whose argument the process has
  std::map<std::uint32_t, model::CounterId> counters_;
  std::set<std::string, std::less<>> categories_;
};

}  // namespace sonde::ingest
