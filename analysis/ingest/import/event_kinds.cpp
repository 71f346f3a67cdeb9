#include "analysis/ingest/import/event_kinds.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>

namespace sonde::ingest {
namespace {

using model::CollectiveOp;
using model::CopyKind;
using model::DataType;
using model::SliceKind;
using model::SyncKind;

template <typename Value, std::size_t size>
const Value* find(const std::pair<std::string_view, Value> (&table)[size],
                  std::string_view key) noexcept {
  for (const auto& [name, value] : table)
    if (name == key)
      return &value;
  return nullptr;
}

// From kineto's ActivityType.h; the capitalised ones are from before 2022.
constexpr std::pair<std::string_view, EventTable> kTables[] = {
    {"kernel", EventTable::Kernel},
    {"Kernel", EventTable::Kernel},
    {"concurrent_kernel", EventTable::Kernel},
    {"gpu_memcpy", EventTable::Copy},
    {"Memcpy", EventTable::Copy},
    {"gpu_memset", EventTable::Copy},
    {"Memset", EventTable::Copy},
    {"cuda_sync", EventTable::Sync},
    {"cuda_event", EventTable::Sync},
    {"gpu_user_annotation", EventTable::Nowhere},
};

constexpr std::pair<std::string_view, SliceKind> kKinds[] = {
    {"cpu_op", SliceKind::Operator},
    {"Operator", SliceKind::Operator},
    {"cuda_runtime", SliceKind::Api},
    {"cuda_driver", SliceKind::Api},
    {"Runtime", SliceKind::Api},
    {"mtia_runtime", SliceKind::Api},
    {"glow_runtime", SliceKind::Api},
    {"xpu_runtime", SliceKind::Api},
    {"xpu_driver", SliceKind::Api},
    {"privateuse1_runtime", SliceKind::Api},
    {"privateuse1_driver", SliceKind::Api},
    {"overhead", SliceKind::Api},
    {"python_function", SliceKind::Python},
    {"Trace", SliceKind::Range},
};

constexpr std::pair<std::string_view, DataType> kDataTypes[] = {
    {"char", DataType::Int8},
    {"signedchar", DataType::Int8},
    {"byte", DataType::Uint8},
    {"unsignedchar", DataType::Uint8},
    {"bool", DataType::Uint8},
    {"int", DataType::Int32},
    {"long", DataType::Int64},
    {"longint", DataType::Int64},
    {"half", DataType::Float16},
    {"float", DataType::Float32},
    {"double", DataType::Float64},
    {"bfloat16", DataType::Bfloat16},
};

// Longer names come before those that they begin with or contain.
constexpr std::pair<std::string_view, CollectiveOp> kCollectives[] = {
    {"reducescatter", CollectiveOp::ReduceScatter},
    {"allreduce", CollectiveOp::Allreduce},
    {"allgather", CollectiveOp::Allgather},
    {"alltoall", CollectiveOp::Alltoall},
    {"broadcast", CollectiveOp::Broadcast},
    {"reduce", CollectiveOp::Reduce},
    {"gather", CollectiveOp::Gather},
    {"scatter", CollectiveOp::Scatter},
    {"barrier", CollectiveOp::Barrier},
    // One kernel name serves all calls made of sends and receives. Only all-to-all among them is a
    // collective.
    {"sendrecv", CollectiveOp::Alltoall},
    {"send", CollectiveOp::Send},
    {"recv", CollectiveOp::Receive},
};

// Lower case, without word separators.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      text.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  return text;
}

}  // namespace

EventTable tableOf(std::string_view category) noexcept {
  const EventTable* const table = find(kTables, category);
  return table == nullptr ? EventTable::Slice : *table;
}

bool isApiName(std::string_view name) noexcept {
  for (const std::string_view prefix : {"cu", "cuda", "hip"})
    if (name.size() > prefix.size() && name.starts_with(prefix) && name[prefix.size()] >= 'A' &&
        name[prefix.size()] <= 'Z')
      return true;
  return false;
}

bool isLaunchName(std::string_view name) noexcept {
  for (const std::string_view word : {"Launch", "Memcpy", "Memset"})
    if (name.find(word) != std::string_view::npos)
      return true;
  return false;
}

bool isOperatorName(std::string_view name) noexcept {
  if (name.find("::") != std::string_view::npos)
    return true;
  const std::size_t last = name.find_last_not_of("0123456789");
  return last + 1 < name.size() && name.substr(0, last + 1).ends_with("Backward");
}

SliceKind sliceKindOfEvent(std::string_view category, std::string_view name) noexcept {
  // Before user_annotation existed these were operators.
  const SliceKind* const kind = find(kKinds, category);
  if (kind != nullptr && *kind != SliceKind::Operator)
    return *kind;
  if (profilerStep(name))
    return SliceKind::Iteration;
  if (name.starts_with("Optimizer.step#"))
    return SliceKind::Optimizer;
  if (name.starts_with("nccl:") || name.starts_with("gloo:"))
    return SliceKind::Collective;
  if (kind != nullptr || !category.empty())
    return kind != nullptr ? *kind : SliceKind::Operation;
  if (isApiName(name))
    return SliceKind::Api;
  return isOperatorName(name) ? SliceKind::Operator : SliceKind::Operation;
}

CopyKind copyKindOf(std::string_view category, std::string_view name) noexcept {
  constexpr std::pair<std::string_view, CopyKind> kWords[] = {
      {"HtoD", CopyKind::HostToDevice},
      {"DtoH", CopyKind::DeviceToHost},
      {"DtoD", CopyKind::DeviceToDevice},
      {"HtoH", CopyKind::HostToHost},
      {"PtoP", CopyKind::PeerToPeer},
      {"HostToDevice", CopyKind::HostToDevice},
      {"DeviceToHost", CopyKind::DeviceToHost},
      {"DeviceToDevice", CopyKind::DeviceToDevice},
      {"H2D", CopyKind::HostToDevice},
      {"D2H", CopyKind::DeviceToHost},
      {"D2D", CopyKind::DeviceToDevice},
      {"P2P", CopyKind::PeerToPeer},
  };
  if (category == "gpu_memset" || category == "Memset" || name.starts_with("Memset"))
    return CopyKind::Set;
  for (const auto& [word, kind] : kWords)
    if (name.find(word) != std::string_view::npos)
      return kind;
  return CopyKind::Other;
}

std::optional<bool> pinnedOf(std::string_view copyName) noexcept {
  const bool pinned = copyName.find("Pinned") != std::string_view::npos;
  const bool pageable = copyName.find("Pageable") != std::string_view::npos;
  return pinned == pageable ? std::nullopt : std::optional(pinned);
}

std::optional<CopyKind> copyKindOfWord(std::string_view word) noexcept {
  for (const CopyKind kind : {CopyKind::HostToDevice,
                              CopyKind::DeviceToHost,
                              CopyKind::DeviceToDevice,
                              CopyKind::HostToHost,
                              CopyKind::PeerToPeer,
                              CopyKind::Set,
                              CopyKind::Other})
    if (model::word(kind) == word)
      return kind;
  return {};
}

SyncKind syncKindOf(std::string_view name) noexcept {
  if (name.find("Wait") != std::string_view::npos)
    return SyncKind::Wait;
  if (name.find("Context") != std::string_view::npos ||
      name.find("Device") != std::string_view::npos)
    return SyncKind::Context;
  if (name.find("Record") != std::string_view::npos)
    return SyncKind::Record;
  return name.find("Event") != std::string_view::npos ? SyncKind::Event : SyncKind::Stream;
}

std::optional<std::int64_t> profilerStep(std::string_view name) noexcept {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  if (!name.starts_with(kPrefix))
    return {};
  name.remove_prefix(kPrefix.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size())
    return {};
  return number;
}

std::optional<CollectiveOp> collectiveOf(std::string_view name) noexcept {
  const std::string text = plain(name.substr(0, name.find('(')));
  for (const auto& [word, op] : kCollectives)
    if (text.find(word) != std::string::npos)
      return op;
  return {};
}

DataType dataTypeOf(std::string_view name) noexcept {
  constexpr std::string_view kNamespace = "c10::";
  if (name.starts_with(kNamespace))
    name.remove_prefix(kNamespace.size());
  const DataType* const type = find(kDataTypes, plain(name));
  return type == nullptr ? DataType::Unknown : *type;
}

std::int64_t bytesOf(DataType type) noexcept {
  switch (type) {
    case DataType::Int8:
    case DataType::Uint8:
      return 1;
    case DataType::Float16:
    case DataType::Bfloat16:
      return 2;
    case DataType::Int32:
    case DataType::Uint32:
    case DataType::Float32:
      return 4;
    case DataType::Int64:
    case DataType::Uint64:
    case DataType::Float64:
      return 8;
    default:
      return 0;
  }
}

}  // namespace sonde::ingest
