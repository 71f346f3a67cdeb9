#include "recorder/run/closing.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace sonde::recorder {

namespace {

// A terminal that goes away sends SIGHUP more than once; this does not count as insisting.
bool insists(const signalfd_siginfo& signal) {
  return launcher::asksToEnd(signal) && signal.ssi_signo != SIGHUP;
}

// Shared with the thread, which outlives the caller if the user insists.
struct Ending {
  Finish finish;
  std::stop_source stop;
  std::optional<Result<RecordingSummary>> result;
  int done = eventfd(0, EFD_CLOEXEC);
};

}  // namespace

Result<RecordingSummary> finishInterruptibly(Finish finish,
                                             const launcher::SignalRelay& relay,
                                             const Say& say) {
  const auto ending = std::make_shared<Ending>();
  ending->finish = std::move(finish);
  std::thread thread([ending] {
    ending->result.emplace(ending->finish(ending->stop.get_token()));
    eventfd_write(ending->done, 1);
  });
  int asked = 0;
  while (asked < 2) {
    pollfd descriptors[] = {{ending->done, POLLIN, 0}, {relay.descriptor(), POLLIN, 0}};
    if (poll(descriptors, 2, -1) > 0 && (descriptors[0].revents & POLLIN) != 0) {
      thread.join();
      close(ending->done);
      return *std::move(ending->result);
    }
    const int before = asked;
    while (const auto signal = relay.next()) {
      if (launcher::announcesEnd(*signal))
        ending->stop.request_stop();
      asked += insists(*signal) ? 1 : 0;
    }
    if (before == 0 && asked == 1)
      say("the job has ended and Sonde finishes the trace: repeat to leave it unfinished");
  }
  thread.detach();
  return Error{ErrorCode::Io, "the trace is unfinished: finish it with sonde recover"};
}

}  // namespace sonde::recorder
