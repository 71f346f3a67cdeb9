#include "analysis/ingest/trace_event/trace_event_context.h"

#include "analysis/ingest/trace_event/text_repair.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::ingest {
namespace {

constexpr std::string_view kArgsKey = "args";
constexpr std::size_t kEmptyArgs = 2;  // "{}"

}  // namespace

TraceEventContext::TraceEventContext(store::TraceWriter& to,
                                     const std::filesystem::path& scratch,
                                     std::string hostName)
    : writer(to), places(to, std::move(hostName)), slices(scratch) {}

Result<void> TraceEventContext::begin() {
  SONDE_TRY_ASSIGN(argsKey_, writer.intern(kArgsKey));
  return {};
}

void TraceEventContext::noteUnreadable(const TraceEvent& event, ValueUse use) {
  const UnreadableValues& values = event.args.unreadable[static_cast<std::size_t>(use)];
  for (std::uint32_t value = 0; value < values.count; ++value)
    account.values.add([&] {
      return fmt::format(
          "the event at byte {}, whose \"{}\" has the wrong type", byteOf(event), values.first);
    });
}

// One row for all arguments: a row for each argument would be most of the trace.
Result<void> TraceEventContext::addArgs(model::Owner owner,
                                        std::int64_t id,
                                        std::string_view json) {
  if (json.size() <= kEmptyArgs)
    return {};
  const bool hasEscapes = json.find('\\') != std::string_view::npos;
  const std::string repaired = hasEscapes ? withKnownEscapes(json) : std::string();
  return writer.add(
      model::Arg{owner, id, argsKey_, repaired.empty() ? json : std::string_view(repaired)});
}

}  // namespace sonde::ingest
