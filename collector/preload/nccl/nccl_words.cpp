#include "collector/preload/nccl/nccl_words.h"

#include <string.h>

#include <cstddef>

namespace sonde::preload::nccl {
namespace {

using wire::CollectiveOp;
using wire::DataType;

constexpr Function kFunctions[] = {
    {"Broadcast", "ncclBroadcast", 0, CollectiveOp::Broadcast},
    {"Reduce", "ncclReduce", 1, CollectiveOp::Reduce},
    {"AllGather", "ncclAllGather", 2, CollectiveOp::Allgather},
    {"ReduceScatter", "ncclReduceScatter", 3, CollectiveOp::ReduceScatter},
    {"AllReduce", "ncclAllReduce", 4, CollectiveOp::Allreduce},
    {"Send", "ncclSend", 6, CollectiveOp::Send},
    {"Recv", "ncclRecv", 7, CollectiveOp::Receive},
    {"AlltoAll", "ncclAlltoAll", 8, CollectiveOp::Alltoall},
    {"Scatter", "ncclScatter", 9, CollectiveOp::Scatter},
    {"Gather", "ncclGather", 10, CollectiveOp::Gather},
};

struct TypeWord {
  const char* word;
  ElementType type;
};
// In the order of ncclDataType_t.
constexpr TypeWord kTypes[] = {{"ncclInt8", {DataType::Int8, 1}},
                               {"ncclUint8", {DataType::Uint8, 1}},
                               {"ncclInt32", {DataType::Int32, 4}},
                               {"ncclUint32", {DataType::Uint32, 4}},
                               {"ncclInt64", {DataType::Int64, 8}},
                               {"ncclUint64", {DataType::Uint64, 8}},
                               {"ncclFloat16", {DataType::Float16, 2}},
                               {"ncclFloat32", {DataType::Float32, 4}},
                               {"ncclFloat64", {DataType::Float64, 8}},
                               {"ncclBfloat16", {DataType::Bfloat16, 2}},
                               {"ncclFloat8e4m3", {DataType::Unknown, 1}},
                               {"ncclFloat8e5m2", {DataType::Unknown, 1}}};

// In the order of NCCL_ALGO_… and NCCL_PROTO_… of NCCL 2.23, the version that reports numbers.
constexpr const char* kAlgorithms[] = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr const char* kProtocols[] = {"LL", "LL128", "SIMPLE"};

template <typename Entry, std::size_t N, typename Matches>
const Entry* first(const Entry (&entries)[N], Matches matches) noexcept {
  for (const Entry& entry : entries) {
    if (matches(entry))
      return &entry;
  }
  return nullptr;
}

template <std::size_t N>
const char* at(const char* const (&words)[N], std::uint8_t number) noexcept {
  return number < N ? words[number] : nullptr;
}

}  // namespace

const Function* functionOf(const char* word) noexcept {
  return word == nullptr ? nullptr : first(kFunctions, [&](const Function& function) {
    return strcmp(function.word, word) == 0;
  });
}

const Function* functionOf(std::uint8_t number) noexcept {
  return first(kFunctions, [&](const Function& function) { return function.number == number; });
}

ElementType elementType(const char* word) noexcept {
  const TypeWord* const found =
      word == nullptr
          ? nullptr
          : first(kTypes, [&](const TypeWord& type) { return strcmp(type.word, word) == 0; });
  return found == nullptr ? ElementType{DataType::Unknown, 0} : found->type;
}

ElementType elementType(std::uint8_t number) noexcept {
  return number < sizeof kTypes / sizeof *kTypes ? kTypes[number].type
                                                 : ElementType{DataType::Unknown, 0};
}

const char* algorithmWord(std::uint8_t number) noexcept {
  return at(kAlgorithms, number);
}

const char* protocolWord(std::uint8_t number) noexcept {
  return at(kProtocols, number);
}

}  // namespace sonde::preload::nccl
