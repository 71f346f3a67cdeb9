#include "session/recording_switch.h"

#include "collector/launcher/spool_reader.h"
#include "session/session_page.h"

#include <system_error>

namespace sonde::session {

void setRecording(const std::filesystem::path& folder, wire::RecordingState state) {
  using launcher::SpoolReader;
  if (auto page = SessionPage::open(folder))
    page->setRecording(state);  // first: what begins meanwhile is to know it
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure))
    if (entry.path().extension() == ".spool")
      if (auto reader = SpoolReader::open(entry.path(), SpoolReader::Access::ReadWrite))
        reader->setRecording(state);
}

}  // namespace sonde::session
