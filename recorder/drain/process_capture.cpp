#include "recorder/drain/process_capture.h"

#include "recorder/environment/job_identity.h"
#include "recorder/launcher/process_stat.h"

#include <utility>

namespace sonde::recorder {

namespace {

constexpr int kForever = -1;

}  // namespace

CapturedImage describeImage(const ImageId& image,
                            const std::vector<std::string>& argv,
                            const std::vector<std::string>& environment,
                            const Redactor& redactor) {
  JobIdentity identity = jobIdentity(environment);
  CapturedImage captured;
  captured.job = std::move(identity.job);
  captured.facts.image = image;
  captured.facts.rank = identity.rank;
  captured.facts.localRank = identity.localRank;
  captured.facts.worldSize = identity.worldSize;
  captured.facts.command = redactor.commandLine(argv);
  for (const auto& [name, value] : redactor.environment(environment))
    captured.facts.arguments["env." + name] = value;
  return captured;
}

std::optional<CapturedImage> captureImage(const ImageId& image, const Redactor& redactor) {
  const auto stat = launcher::readProcessStat(image.pid);
  if (!stat || stat->startTime != image.startTime)
    return std::nullopt;
  const auto argv = launcher::readCommandLine(image.pid);
  if (argv.empty())  // a zombie
    return std::nullopt;
  return describeImage(image, argv, launcher::readEnvironment(image.pid), redactor);
}

ProcessCapture::ProcessCapture(const std::filesystem::path& folder, const Redactor& redactor)
    : redactor_(redactor), watch_(folder), thread_([this] { work(); }) {}

ProcessCapture::~ProcessCapture() {
  watch_.stop();
  thread_.join();
}

void ProcessCapture::work() {
  while (!watch_.stopped()) {
    for (const ImageId& image : watch_.wait(kForever)) {
      auto captured = captureImage(image, redactor_);
      if (!captured)
        continue;
      const std::lock_guard lock(mutex_);
      captured_.push_back(*std::move(captured));
    }
  }
}

std::vector<CapturedImage> ProcessCapture::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(captured_, {});
}

}  // namespace sonde::recorder
