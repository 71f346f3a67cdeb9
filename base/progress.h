// How far long work is, for whoever waits for it. The work calls it now and then, on its own
// thread; a Progress that nobody listens to costs nothing.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

namespace sonde {

class Progress {
 public:
  // What is being done now, and how much of the whole is behind it, from 0 to 1.
  using Listener = std::function<void(std::string_view what, double share)>;

  Progress() = default;
  explicit Progress(Listener listener) : listener_(std::move(listener)) {}

  void operator()(std::string_view what, double share) const {
    if (listener_)
      listener_(what, share);
  }

  // For a piece of the work, which is from `from` to `to` of the whole.
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
