#include "recorder/drain/folder_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cstring>
#include <regex>

namespace sonde::recorder {

FolderWatch::FolderWatch(const std::filesystem::path& folder)
    : notify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)), wake_(eventfd(0, EFD_CLOEXEC)) {
  if (notify_ >= 0 && inotify_add_watch(notify_, folder.c_str(), IN_MOVED_TO | IN_CREATE) < 0) {
    close(notify_);
    notify_ = -1;
  }
}

FolderWatch::~FolderWatch() {
  close(wake_);
  if (notify_ >= 0)
    close(notify_);
}

std::vector<ImageId> FolderWatch::wait(int timeoutMs) {
  pollfd descriptors[] = {{wake_, POLLIN, 0}, {notify_, POLLIN, 0}};
  std::vector<ImageId> images;
  if (poll(descriptors, 2, timeoutMs) <= 0 || (descriptors[1].revents & POLLIN) == 0)
    return images;
  alignas(inotify_event) char buffer[4096];
  const ssize_t got = read(notify_, buffer, sizeof buffer);
  for (ssize_t at = 0; at < got;) {
    inotify_event event{};
    std::memcpy(&event, buffer + at, sizeof event);
    if (event.len > 0) {
      if (const auto image = imageOfFileName(buffer + at + sizeof event))
        images.push_back(*image);
    }
    at += static_cast<ssize_t>(sizeof event + event.len);
  }
  return images;
}

void FolderWatch::stop() {
  stopped_.store(true);
  const std::uint64_t one = 1;
  if (write(wake_, &one, sizeof one) < 0)
    return;  // then it ends with the next timeout
}

std::optional<ImageId> imageOfFileName(const std::string& name) {
  static const std::regex kForm("[^-]+-[0-9]+-([0-9]{1,9})-([0-9]{1,19})-([0-9]{1,9})\\.spool");
  std::smatch parts;
  if (!std::regex_match(name, parts, kForm))
    return std::nullopt;
  return ImageId{static_cast<std::int32_t>(std::strtol(parts[1].str().c_str(), nullptr, 10)),
                 std::strtoull(parts[2].str().c_str(), nullptr, 10),
                 static_cast<std::uint32_t>(std::strtoul(parts[3].str().c_str(), nullptr, 10))};
}

}  // namespace sonde::recorder
