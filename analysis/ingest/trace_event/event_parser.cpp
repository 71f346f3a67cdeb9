#include "analysis/ingest/trace_event/event_parser.h"

#include "analysis/ingest/input/decimal_time.h"
#include "analysis/ingest/input/json_pieces.h"

#include <simdjson.h>

#include <charconv>

namespace sonde::ingest {
namespace {

namespace od = simdjson::ondemand;

static_assert(simdjson::SIMDJSON_PADDING <= JsonPieces::kPadding);

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

// Of "12" and "0x1f".
OptionalNumber numberOf(std::string_view text) noexcept {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error == std::errc{} && end == digits.data() + digits.size() && !digits.empty())
    return value;
  return hex ? OptionalNumber() : scaledDecimal(text, 0);  // "7.0"
}

// The text of a number or string; of another type: none.
std::optional<std::string_view> scalarText(od::value value) {
  od::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS)
    return {};
  if (type == od::json_type::number)
    return trimmed(value.raw_json_token());
  std::string_view text;
  if (type == od::json_type::string && value.get_string().get(text) == simdjson::SUCCESS)
    return text;
  return {};
}

Label labelOf(od::value value) {
  Label label;
  if (const auto text = scalarText(value)) {
    label.text = *text;
    label.number = numberOf(*text);
  }
  return label;
}

OptionalNumber integerOf(od::value value) {
  const auto text = scalarText(value);
  return text ? numberOf(*text) : OptionalNumber();
}

std::string_view textOf(od::value value) {
  return scalarText(value).value_or(std::string_view());
}

simdjson::error_code readExtent(od::value value, std::array<OptionalNumber, 3>& into) {
  od::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS)
    return simdjson::SUCCESS;
  std::size_t at = 0;
  for (auto item : list) {
    od::value element;
    if (const auto error = item.get(element))
      return error;
    if (at < into.size())
      into[at++] = integerOf(element);
  }
  return simdjson::SUCCESS;
}

template <OptionalNumber EventArgs::*member>
simdjson::error_code readInteger(od::value value, EventArgs& args) {
  args.*member = integerOf(value);
  return simdjson::SUCCESS;
}
template <std::string_view EventArgs::*member>
simdjson::error_code readText(od::value value, EventArgs& args) {
  args.*member = textOf(value);
  return simdjson::SUCCESS;
}
template <std::array<OptionalNumber, 3> EventArgs::*member>
simdjson::error_code readExtentOf(od::value value, EventArgs& args) {
  return readExtent(value, args.*member);
}

struct ArgReader {
  std::string_view key;
  simdjson::error_code (*read)(od::value value, EventArgs& args);
};

// By length of the key, so that one comparison tells most apart.
constexpr ArgReader kArgReaders[] = {
    {"Seq", readInteger<&EventArgs::seq>},
    {"pid", readInteger<&EventArgs::pid>},
    {"tid", readInteger<&EventArgs::tid>},
    {"name", readText<&EventArgs::name>},
    {"rank", readInteger<&EventArgs::rank>},
    {"host", readText<&EventArgs::host>},
    {"grid", readExtentOf<&EventArgs::grid>},
    {"bytes", readInteger<&EventArgs::bytes>},
    {"block", readExtentOf<&EventArgs::block>},
    {"dtype", readText<&EventArgs::dtype>},
    {"device", readInteger<&EventArgs::device>},
    {"pinned", readInteger<&EventArgs::pinned>},
    {"stream", readInteger<&EventArgs::stream>},
    {"graph id", readInteger<&EventArgs::graphId>},
    {"event_id", readInteger<&EventArgs::eventId>},
    {"Src Rank", readInteger<&EventArgs::sourceRank>},
    {"Dst Rank", readInteger<&EventArgs::targetRank>},
    {"Group size", readInteger<&EventArgs::groupSize>},
    {"world_size", readInteger<&EventArgs::worldSize>},
    {"correlation", readInteger<&EventArgs::correlation>},
    {"local memory", readInteger<&EventArgs::localBytes>},
    {"In msg nelems", readInteger<&EventArgs::inElements>},
    {"graph node id", readInteger<&EventArgs::graphNodeId>},
    {"shared memory", readInteger<&EventArgs::sharedBytes>},
    {"Out msg nelems", readInteger<&EventArgs::outElements>},
    {"cuda_sync_kind", readText<&EventArgs::syncKind>},
    {"Collective name", readText<&EventArgs::collective>},
    {"Process Group Name", readText<&EventArgs::group>},
    {"Process Group Ranks", readText<&EventArgs::groupRanks>},
    {"static shared memory", readInteger<&EventArgs::staticSharedBytes>},
    {"registers per thread", readInteger<&EventArgs::registers>},
    {"dynamic shared memory", readInteger<&EventArgs::dynamicSharedBytes>},
    {"wait_on_cuda_event_id", readInteger<&EventArgs::eventId>},
    {"wait_on_cuda_event_record_corr_id", readInteger<&EventArgs::recordCorrelation>},
};

// What is in a key's quotes. Only a key with escapes has to be decoded.
simdjson::error_code readKey(od::field& field, std::string_view& into) {
  const char* const begin = field.key().raw();
  const char* end = begin;
  while (*end != '"' && *end != '\\')
    ++end;
  if (*end == '\\')
    return field.unescaped_key().get(into);
  into = {begin, static_cast<std::size_t>(end - begin)};
  return simdjson::SUCCESS;
}

// Gives `take` the name and the value of each member, until it fails.
template <typename Take>
simdjson::error_code eachMember(od::object& object, Take take) {
  for (auto item : object) {
    od::field field;
    if (const auto error = std::move(item).get(field))
      return error;
    std::string_view key;
    if (const auto error = readKey(field, key))
      return error;
    if (const auto error = take(key, field.value()))
      return error;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code readArg(std::string_view key, od::value value, EventArgs& args) {
  for (const ArgReader& reader : kArgReaders) {
    if (reader.key == key)
      return reader.read(value, args);
  }
  return simdjson::SUCCESS;
}

simdjson::error_code readArgs(od::value value, EventArgs& args) {
  od::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS)
    return simdjson::SUCCESS;  // no arguments then
  if (const auto error = object.raw_json().get(args.json))
    return error;
  if (const auto error = object.reset().error())
    return error;
  return eachMember(
      object, [&](std::string_view key, od::value member) { return readArg(key, member, args); });
}

void readTime(od::value value, OptionalNumber& into, bool& bad) {
  const auto text = scalarText(value);
  into = text ? nanosecondsOfMicroseconds(*text) : OptionalNumber();
  bad = bad || !into || !isTime(*into);
}

// {"local": "0x1"}, or {"global": "0x1"}.
simdjson::error_code readId2(od::value value, TraceEvent& event) {
  od::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS)
    return simdjson::SUCCESS;
  for (auto item : object) {
    od::field field;
    if (const auto error = std::move(item).get(field))
      return error;
    std::string_view key;
    if (const auto error = readKey(field, key))
      return error;
    event.idIsLocal = key == "local";
    event.id = labelOf(field.value());
  }
  return simdjson::SUCCESS;
}

simdjson::error_code readField(std::string_view key, od::value value, TraceEvent& event) {
  if (key == "ph") {
    const std::string_view phase = textOf(value);
    event.phase = phase.size() == 1 ? phase.front() : '\0';
  } else if (key == "cat") {
    event.category = textOf(value);
  } else if (key == "name") {
    event.name = textOf(value);
  } else if (key == "ts") {
    readTime(value, event.startNs, event.badTime);
  } else if (key == "dur") {
    readTime(value, event.durNs, event.badTime);
  } else if (key == "bp") {
    event.bindsEnclosing = textOf(value) == "e";
  } else if (key == "pid") {
    event.pid = labelOf(value);
  } else if (key == "tid") {
    event.tid = labelOf(value);
  } else if (key == "id") {
    event.id = labelOf(value);
  } else if (key == "args") {
    return readArgs(value, event.args);
  } else if (key == "id2") {
    return readId2(value, event);
  } else if (key == "kind") {
    event.kind = textOf(value);
  } else if (key == "iteration") {
    event.iteration = integerOf(value);
  } else if (key == "lane") {
    event.lane = integerOf(value);
  } else if (key == "depth") {
    event.depth = integerOf(value);
  } else if (key == "device") {
    event.device = integerOf(value);
  } else if (key == "stream") {
    event.stream = integerOf(value);
  } else if (key == "launcher") {
    event.launcher = labelOf(value);
  }
  return simdjson::SUCCESS;
}

simdjson::error_code readEvent(od::object object, TraceEvent& event) {
  return eachMember(
      object, [&](std::string_view key, od::value value) { return readField(key, value, event); });
}

bool isTextError(simdjson::error_code error) {
  return error == simdjson::UTF8_ERROR || error == simdjson::UNESCAPED_CHARS;
}

}  // namespace

struct EventParser::State {
  od::parser parser;
};

EventParser::EventParser() : state_(std::make_unique<State>()) {}
EventParser::~EventParser() = default;

Result<EventParser::Outcome> EventParser::parse(std::string_view array, const Take& take) {
  Outcome outcome;
  const auto stopped = [&](simdjson::error_code error) {
    outcome.wrong = simdjson::error_message(error);
    outcome.badText = isTextError(error);
    return outcome;
  };
  od::document document;
  const simdjson::padded_string_view text(
      array.data(), array.size(), array.size() + JsonPieces::kPadding);
  if (const auto error = state_->parser.iterate(text).get(document))
    return stopped(error);
  od::array list;
  if (const auto error = document.get_array().get(list))
    return stopped(error);
  for (auto item : list) {
    od::value value;
    if (const auto error = item.get(value))
      return stopped(error);
    od::object object;
    if (const auto error = value.get_object().get(object))
      return stopped(error);
    TraceEvent event;
    if (const auto error = readEvent(object, event))
      return stopped(error);
    SONDE_TRY(take(event));
    ++outcome.taken;
  }
  return outcome;
}

}  // namespace sonde::ingest
