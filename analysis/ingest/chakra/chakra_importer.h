// Imports an execution trace of MLCommons Chakra (`.et`: protobuf messages, plain or gzip) as the
// rows of one process.
//
// Owned by one import, on one thread. Memory: buffers of fixed size, the largest node, the names,
// the collectives and the iterations.
#pragma once

#include "analysis/ingest/chakra/chakra_collectives.h"
#include "analysis/ingest/chakra/chakra_node.h"
#include "analysis/ingest/chakra/dependencies.h"
#include "analysis/ingest/chakra/message_reader.h"
#include "analysis/ingest/import/device_events.h"
#include "analysis/ingest/import/host_slices.h"
#include "analysis/ingest/import/imported_file.h"
#include "analysis/ingest/import/imported_places.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace sonde::ingest {

class ChakraImporter {
 public:
  // Intermediate data goes to files in `scratch`. `rank`: from the file's name, if it has one.
  ChakraImporter(store::TraceWriter& writer,
                 const std::filesystem::path& scratch,
                 std::string hostName,
                 model::OptionalInt rank,
                 BytesRead bytesRead);

  // Call once. Requires: an open transaction. Corrupt: nothing in the file is readable.
  // Unsupported: its nodes have no times.
  Result<ImportedFile> import(ByteSource source);

 private:
  Result<void> readAll(MessageReader& reader);
  Result<void> take(const std::string& message, MessageReader& reader);
  Result<void> node(const ChakraNode& node);
  Result<Dependencies::Row> slice(const ChakraNode& node);
  Result<Dependencies::Row> kernel(const ChakraNode& node);
  Result<Dependencies::Row> copy(const ChakraNode& node);
  Result<model::DeviceWork> workOf(const ChakraNode& node);
  Result<void> addCollective(const ChakraNode& node, const Dependencies::Row& row);
  Result<void> checkContent(const std::string& file) const;
  Result<void> finish();

  store::TraceWriter& writer_;
  model::OptionalInt rank_;
  BytesRead bytesRead_;
  ImportedPlaces places_;
  HostSlices slices_;
  DeviceEvents device_;
  Dependencies dependencies_;
  ChakraCollectives collectives_;
  model::StringId argsKey_{};
  bool hasMetadata_ = false;       // the first message was read
  std::uint64_t kept_ = 0;         // nodes that became rows
  std::uint64_t begunLater_ = 0;   // of them, those that do not begin at 0
  std::uint64_t withoutTime_ = 0;  // nodes with neither start nor duration
  std::uint64_t messages_ = 0;
  ImportedFile result_;
};

// The rank in a file name by Chakra's convention: 3 for "trace.3.et".
model::OptionalInt chakraRankOf(const std::filesystem::path& file);

}  // namespace sonde::ingest
