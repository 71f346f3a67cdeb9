#include "recorder/spool/recording_switch.h"

#include "recorder/spool/session_page.h"
#include "recorder/spool_file/spool_reader.h"

#include <system_error>

namespace sonde::recorder {

void setRecording(const std::filesystem::path& folder, wire::RecordingState state) {
  if (auto page = SessionPage::open(folder))
    page->setRecording(state);  // first, so that processes that start meanwhile see it
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure))
    if (entry.path().extension() == ".spool")
      if (auto reader = SpoolReader::open(entry.path(), SpoolReader::Access::ReadWrite))
        reader->setRecording(state);
}

}  // namespace sonde::recorder
