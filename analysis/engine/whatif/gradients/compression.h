// The question how long an iteration would take if gradients were compressed before they are
// reduced. Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>
#include <optional>

namespace sonde::engine::whatif {

enum class Codec : std::uint8_t {
  Fp16,      // each gradient becomes a number of two bytes
  PowerSgd,  // two all-reduces of factors of low rank
  TopK,      // an all-gather of the largest gradients and their places
};

struct Compression {
  Codec codec = Codec::Fp16;
  // The bytes that remain, as a part of all; for TopK the gradients that remain. Fp16: one half.
  double ratio = 0.5;
  // Gradients that are encoded in a nanosecond; decoding takes as long. nullopt: codecSpeed().
  std::optional<double> bytesPerNs = {};
};

// In bytes per nanosecond. An assumption: 2 GB/s on processors, 300 GB/s on devices.
double codecSpeed(bool isOnDevice);

// Each bucket of gradients, as earlier questions left them, is encoded where its gradients were
// computed, before its reduction, and decoded after it. NotFound: the trace has no reductions of
// all ranks inside of iterations, or too few to know the network. InvalidArgument: a ratio or a
// speed is out of range.
Question compression(Compression of);

}  // namespace sonde::engine::whatif
