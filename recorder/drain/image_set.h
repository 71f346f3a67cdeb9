// The spool files of a session during a drain: finds new files, detects ended processes, keeps
// facts about each image and deletes files that are finished. Owned by the drainer, on its thread.
#pragma once

#include "analysis/ingest/rows/row_sink.h"
#include "recorder/drain/process_facts.h"
#include "recorder/drain/spool_image.h"
#include "recorder/spool/session_page.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sonde::recorder {

class ImageSet {
 public:
  // `keepSpool`: only reads files; gives nothing back and deletes nothing.
  ImageSet(std::filesystem::path folder, std::filesystem::path onlyFile, bool keepSpool);
  ImageSet(const ImageSet&) = delete;
  ImageSet& operator=(const ImageSet&) = delete;

  // Reads the rows of processes that are already stored, including those whose files are gone.
  Result<void> restore(const store::Database& trace);

  struct Unreadable {
    std::string file;
    std::string why;
  };
  // Opens new files. `trace` shows which of them an earlier recorder has closed. Files that cannot
  // be opened now, but perhaps later, wait for the next scan. Returns the images that are new in
  // the trace.
  std::vector<ImageId> scan(const store::Database& trace, std::vector<Unreadable>& unreadable);

  // The number of files that the last scan could not open for lack of descriptors or memory. Their
  // processes are unknown.
  std::uint32_t waiting() const noexcept { return waiting_; }

  // The images that are not closed, in the order of their start.
  const std::vector<std::unique_ptr<SpoolImage>>& open() const noexcept { return open_; }

  bool replaced(const SpoolImage& image) const noexcept;
  // Whether its process is dead or has moved on to another image.
  bool isOver(const SpoolImage& image) const;
  // The parent process's image from which this one was forked; for a later image of the same
  // process, the image that it replaced.
  model::ProcessId parentOf(const SpoolImage& image) const;
  // Closes the image. Stores how it ended, unless its process still runs, and its open calls and
  // scopes. `nowNs`: on CLOCK_MONOTONIC.
  void close(SpoolImage& image, bool runs, std::int64_t nowNs, ingest::RowSink& sink);

  // False if the image has not been seen yet. ImageId::kLast means the latest one seen.
  bool store(const ProcessFacts& facts, ingest::RowSink& sink);

  // The image's row, and the row of a thread of it that ran at `ns`; none if the image has not been
  // seen. Requires: a transaction.
  model::ProcessId processOf(const ImageId& image) const;
  model::ThreadId threadOf(const ImageId& image,
                           std::int32_t tid,
                           std::int64_t ns,
                           ingest::RowSink& sink);

  // The image's stored records are committed: gives its full slots back to the process.
  void giveBack(SpoolImage& image);

  // Applies to the iterations of all processes from now on; see SessionPage::recordEvery.
  void recordEvery(std::uint32_t every);
  // Applies now to processes without an iteration so far, unless the whole recording is paused or
  // over.
  void recordOthers(bool inFull);

  // Whether the whole recording is paused; unset: it is over, or unknown.
  std::optional<bool> isPaused() const;

  // Removes finished images from open(); deletes the files of dead processes.
  void sweep();

 private:
  // Rows outlive their images, because an exit status may come later.
  struct Row {
    std::uint64_t pidNamespace = 0;
    ImageId image;
    std::int64_t startMonotonicNs = 0;
    std::optional<std::int64_t> goneMonotonicNs;  // when it was seen to have ended
    ingest::ProcessRow process;
    bool described = false;  // by facts that include its environment
  };
  void openFile(const std::filesystem::path& path,
                const store::Database& trace,
                std::vector<ImageId>& fresh,
                std::vector<Unreadable>& unreadable);
  Row* rowOf(const ImageId& image) const;
  const Row* rowOf(model::ProcessId process) const;
  // Takes rank facts from the parent, or from a child, that neither the process nor its environment
  // provided. If its environment was not read, it was most likely the parent's.
  void inheritRank(SpoolImage& image) const;
  Row& makeRow(const SpoolIdentity& who);
  void deleteFile(SpoolImage& image);

  std::filesystem::path folder_;
  std::filesystem::path onlyFile_;
  bool keepSpool_;
  std::optional<SessionPage> page_;
  std::set<std::string> seen_;  // opened once, or never to be opened
  std::uint32_t waiting_ = 0;
  std::vector<std::unique_ptr<Row>> rows_;
  std::vector<std::unique_ptr<SpoolImage>> open_;
  std::vector<std::unique_ptr<SpoolImage>> closed_;  // whose files still exist
};

}  // namespace sonde::recorder
