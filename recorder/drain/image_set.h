// The spool files of a session while they are drained: finding new ones, telling which processes
// have ended, what is known about each, and deleting the files that are done with. Owned by the
// drainer, on its thread.
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
  // `keepSpool`: files are only read; nothing is given back or deleted.
  ImageSet(std::filesystem::path folder, std::filesystem::path onlyFile, bool keepSpool);
  ImageSet(const ImageSet&) = delete;
  ImageSet& operator=(const ImageSet&) = delete;

  // Takes up the rows of processes that are stored already, so of those whose files are gone.
  Result<void> restore(const store::Database& trace);

  struct Unreadable {
    std::string file;
    std::string why;
  };
  // Opens files that are new. `trace` tells which of them an earlier recorder has closed. Those
  // that cannot be opened now, but may be later, wait for the next scan. Returns the images that
  // the trace did not have yet.
  std::vector<ImageId> scan(const store::Database& trace, std::vector<Unreadable>& unreadable);

  // How many files the last scan could not open: files or memory had run out. Whose they are and
  // whether that process runs is not known.
  std::uint32_t waiting() const noexcept { return waiting_; }

  // Those that are not closed, in the order in which they began.
  const std::vector<std::unique_ptr<SpoolImage>>& open() const noexcept { return open_; }

  bool replaced(const SpoolImage& image) const noexcept;
  // Its process is dead, or has gone on to another image.
  bool isOver(const SpoolImage& image) const;
  // The image of the parent process from which this one came; for a later image of the same process
  // the one that it replaced.
  model::ProcessId parentOf(const SpoolImage& image) const;
  // Says in its row how it ended, unless its process runs on, and stores what it had open.
  // `nowNs`: on CLOCK_MONOTONIC.
  void close(SpoolImage& image, bool runs, std::int64_t nowNs, ingest::RowSink& sink);

  // False when the image has not been seen yet. Of ImageId::kLast it is the last one seen.
  bool store(const ProcessFacts& facts, ingest::RowSink& sink);

  // The image's row, and that of a thread of it which ran at `ns`; none when the image has not been
  // seen. Requires: a transaction.
  model::ProcessId processOf(const ImageId& image) const;
  model::ThreadId threadOf(const ImageId& image,
                           std::int32_t tid,
                           std::int64_t ns,
                           ingest::RowSink& sink);

  // What the image has stored is safe now: its full slots go back to the process.
  void giveBack(SpoolImage& image);

  // Of the iterations of all processes from now on; see SessionPage::recordEvery.
  void recordEvery(std::uint32_t every);
  // Of processes that have had no iteration yet, now; unless all of the recording is paused or
  // over.
  void recordOthers(bool inFull);

  // Whether all of the recording is paused; nothing: it is over, or nobody says.
  std::optional<bool> isPaused() const;

  // Takes finished images out of open(); deletes the files of processes that are dead.
  void sweep();

 private:
  // Rows outlive their images: an exit status may come later.
  struct Row {
    std::uint64_t pidNamespace = 0;
    ImageId image;
    std::int64_t startMonotonicNs = 0;
    std::optional<std::int64_t> goneMonotonicNs;  // when it was seen not to run any more
    ingest::ProcessRow process;
    bool described = false;  // by facts that include its environment
  };
  void openFile(const std::filesystem::path& path,
                const store::Database& trace,
                std::vector<ImageId>& fresh,
                std::vector<Unreadable>& unreadable);
  Row* rowOf(const ImageId& image) const;
  const Row* rowOf(model::ProcessId process) const;
  // From its parent, or whose child that is, what neither the process nor its environment has told:
  // an environment that nobody has read was most likely the parent's.
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
  std::vector<std::unique_ptr<SpoolImage>> closed_;  // whose files are still there
};

}  // namespace sonde::recorder
