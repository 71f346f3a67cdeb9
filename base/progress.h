// Reports the progress of long work to a listener. The work calls it from time to time, on its own
// thread; without a listener it costs nothing.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

namespace sonde {

class Progress {
 public:
  // Gets the current step and the completed share of the whole, from 0 to 1.
  using Listener = std::function<void(std::string_view what, double share)>;

  Progress() = default;
  explicit Progress(Listener listener) : listener_(std::move(listener)) {}

  void operator()(std::string_view what, double share) const {
    if (listener_)
      listener_(what, share);
  }

  // The progress of a part of the work that goes from `from` to `to` of the whole.
  Progress part(double from, double to) const {
    if (!listener_)
      return {};
    return Progress([whole = listener_, from, to](std::string_view what, double share) {
      whole(what, from + share * (to - from));
    });
  }

 private:
  Listener listener_;
};

}  // namespace sonde
