// sonde_api: functions for the rest of the process, found with dlsym. New versions append. A caller
// that requests a version which this library lacks gets NULL and records nothing.
#define SONDE_NO_LOOKUP

#include "collector/core/calibration.h"
#include "collector/core/communication.h"
#include "collector/core/emit.h"
#include "collector/core/platform/hooks.h"
#include "collector/core/spool.h"
#include "plugins/api/sonde.h"

namespace sonde::preload {
namespace {

using wire::Probe;

// Numbers come from code built against another version of the header. An unknown one counts as an
// annotation.
Probe probeOf(uint32_t number) {
  const bool known =
      number <= SONDE_PROBE_TORCH || number == SONDE_PROBE_PYTHON || number == SONDE_PROBE_TENSOR;
  return known ? static_cast<Probe>(number) : Probe::Annotation;
}

uint32_t apiIntern(const char* text, size_t length) {
  return text == nullptr ? 0 : core::intern(text, length);
}

uint32_t apiBegin(uint32_t kind, uint32_t name, uint32_t probe) {
  return core::beginScope(static_cast<wire::SliceKind>(kind), name, probeOf(probe));
}

void apiEnd(uint32_t token) {
  core::endScope(token);
}

void apiMark(uint32_t name, uint32_t probe) {
  if (core::enabled(probeOf(probe)))
    core::emitMark(name, probeOf(probe));
}

void apiScalar(uint32_t name, double value) {
  if (core::enabled(Probe::Annotation))
    core::emitScalar(name, value);
}

void apiIterationInfo(uint64_t samples, uint64_t tokens, double flops) {
  if (core::enabled(Probe::Annotation))
    core::emitIterationInfo(samples, tokens, flops);
}

void apiMetadata(uint32_t token, uint32_t key, uint32_t text) {
  if (!core::enabled(Probe::Annotation))
    return;
  if (token == 0)
    core::emitProcessText(key, text);
  else
    core::emitArgText({token}, key, text);
}

void apiArgumentInt(uint32_t token, uint32_t key, int64_t value) {
  if (token != 0)
    core::emitArgInt({token}, key, value);
}

int apiEnabled(uint32_t probe) {
  return core::enabled(probeOf(probe)) ? 1 : 0;
}

void apiCommunicatorHint(const char* key, const int32_t* ranks, int32_t count) {
  core::setCommunicatorHint(key, ranks, count);
}

uint64_t apiNow() {
  return core::ticks();
}

void apiScalarAt(uint32_t name, double value, uint64_t when) {
  if (core::enabled(Probe::Annotation))
    core::emitScalar(name, value, when);
}

void apiNativeCall(uint32_t name, uint32_t category, uint64_t begin, uint64_t end) {
  core::emitNativeCall(name, static_cast<wire::CodeCategory>(category), begin, end);
}

int apiTensor(const sonde_tensor* tensor) {
  wire::TensorStatistics record{};
  record.header.subject = tensor->name;
  record.header.detail = static_cast<uint8_t>(tensor->role);
  record.ticks = tensor->when != 0 ? tensor->when : core::ticks();
  record.elements = tensor->elements;
  record.zeros = tensor->zeros;
  record.nans = tensor->nans;
  record.infs = tensor->infs;
  record.minimum = tensor->minimum;
  record.maximum = tensor->maximum;
  record.mean = tensor->mean;
  record.variance = tensor->variance;
  record.l1 = tensor->l1;
  record.l2 = tensor->l2;
  record.collection = tensor->collection;
  record.dtype = tensor->dtype;
  record.shape = tensor->shape;
  record.file = tensor->file;
  record.fileOffset = tensor->file_offset;
  return core::emitTensor(record, tensor->buckets, tensor->bucket_count) ? 1 : 0;
}

void apiLostTensors(uint32_t count) {
  core::countLoss(
      Probe::Tensor, wire::RecordKind::TensorStatistics, wire::LossReason::NotSupported, count);
}

uint32_t apiCalibrated() {
  return core::gCalibrates ? core::gSpool.session->calibration.maskable : 0;
}

uint32_t apiMasked() {
  const wire::ControlPage& control = *core::gSpool.control;
  return control.sources & ~control.probeMask.load(std::memory_order_relaxed);
}

void apiUnrecorded(uint32_t probe, uint32_t calls) {
  core::countUnrecorded(probeOf(probe), calls);
}

constexpr sonde_api_table kTable = {
    SONDE_API_VERSION,
    sizeof(sonde_api_table),
    apiIntern,
    apiBegin,
    apiEnd,
    apiMark,
    apiScalar,
    apiIterationInfo,
    apiMetadata,
    apiArgumentInt,
    apiEnabled,
    apiCommunicatorHint,
    apiNow,
    apiScalarAt,
    apiNativeCall,
    apiTensor,
    apiLostTensors,
    apiCalibrated,
    apiMasked,
    apiUnrecorded,
};

}  // namespace
}  // namespace sonde::preload

SONDE_EXPORT const sonde_api_table* sonde_api(uint32_t version) {
  return version == SONDE_API_VERSION ? &sonde::preload::kTable : nullptr;
}
