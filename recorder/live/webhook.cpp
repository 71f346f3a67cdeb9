#include "recorder/live/webhook.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>

namespace sonde::recorder {
namespace {

constexpr long kConnectSeconds = 5;
constexpr long kAnswerSeconds = 15;
constexpr int kRetries = 3;
constexpr std::chrono::seconds kFirstPause{1};

// libcurl's functions; nullptr members: not loaded. The library stays loaded.
struct Curl {
  decltype(&curl_global_init) globalInit = nullptr;
  decltype(&curl_easy_init) init = nullptr;
  decltype(&curl_easy_setopt) set = nullptr;
  decltype(&curl_easy_perform) perform = nullptr;
  decltype(&curl_easy_getinfo) getInfo = nullptr;
  decltype(&curl_easy_strerror) describe = nullptr;
  decltype(&curl_easy_cleanup) cleanup = nullptr;
  decltype(&curl_slist_append) append = nullptr;
  decltype(&curl_slist_free_all) freeAll = nullptr;

  bool load() {
    void* const library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      return false;
    bool isWhole = true;
    const auto find = [&](const char* name, auto& function) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      isWhole = isWhole && function != nullptr;
    };
    find("curl_global_init", globalInit);
    find("curl_easy_init", init);
    find("curl_easy_setopt", set);
    find("curl_easy_perform", perform);
    find("curl_easy_getinfo", getInfo);
    find("curl_easy_strerror", describe);
    find("curl_easy_cleanup", cleanup);
    find("curl_slist_append", append);
    find("curl_slist_free_all", freeAll);
    return isWhole && globalInit(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  }
};

std::size_t dropAnswer(char*, std::size_t size, std::size_t count, void*) {
  return size * count;
}

int abortIfAsked(void* mayContinue, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return (*static_cast<const std::function<bool()>*>(mayContinue))() ? 0 : 1;
}

struct Answer {
  std::string why;  // empty: it was delivered
  bool mayRetry = false;
};

Answer post(const Curl& curl,
            const std::string& url,
            const std::string& text,
            const std::function<bool()>& mayContinue) {
  const std::unique_ptr<CURL, decltype(curl.cleanup)> handle(curl.init(), curl.cleanup);
  if (!handle)
    return {"libcurl has no memory", false};
  const std::unique_ptr<curl_slist, decltype(curl.freeAll)> headers(
      curl.append(nullptr, "Content-Type: application/json"), curl.freeAll);
  CURL* const request = handle.get();
  curl.set(request, CURLOPT_URL, url.c_str());
  curl.set(request, CURLOPT_POSTFIELDS, text.c_str());
  curl.set(request, CURLOPT_POSTFIELDSIZE, static_cast<long>(text.size()));
  curl.set(request, CURLOPT_HTTPHEADER, headers.get());
  curl.set(request, CURLOPT_NOSIGNAL, 1L);
  curl.set(request, CURLOPT_QUICK_EXIT, 1L);  // a lookup of the host's name may hang
  curl.set(request, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl.set(request, CURLOPT_TIMEOUT, kAnswerSeconds);
  curl.set(request, CURLOPT_PROTOCOLS_STR, "http,https");
  curl.set(request, CURLOPT_WRITEFUNCTION, dropAnswer);
  curl.set(request, CURLOPT_NOPROGRESS, 0L);
  curl.set(request, CURLOPT_XFERINFOFUNCTION, abortIfAsked);
  curl.set(request, CURLOPT_XFERINFODATA, &mayContinue);
  if (const CURLcode code = curl.perform(request); code != CURLE_OK)
    return {curl.describe(code), code != CURLE_ABORTED_BY_CALLBACK};
  long status = 0;
  curl.getInfo(request, CURLINFO_RESPONSE_CODE, &status);
  if (status >= 200 && status < 300)
    return {};
  const bool isTemporary = status >= 500 || status == 408 || status == 429;
  return {fmt::format("the server answers with status {}", status), isTemporary};
}

bool sleepFor(std::chrono::milliseconds time, const std::function<bool()>& mayContinue) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
    if (!mayContinue())
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

}  // namespace

Result<ReactionQueue::React> postTo(const std::string& url) {
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("the webhook '{}' is no URL: give http://… or https://…", url)};
  const auto curl = std::make_shared<Curl>();
  if (!curl->load())
    return Error{ErrorCode::Unsupported,
                 "a webhook needs libcurl.so.4, which is not installed (Debian: libcurl4)"};
  return ReactionQueue::React([curl, url](const std::string& finding,
                                          const std::function<bool()>& mayContinue) -> std::string {
    Answer answer;
    std::chrono::milliseconds pause = kFirstPause;
    for (int attempt = 0; attempt <= kRetries; ++attempt, pause *= 2) {
      if (attempt > 0 && !sleepFor(pause, mayContinue))
        break;
      answer = post(*curl, url, finding, mayContinue);
      if (answer.why.empty() || !answer.mayRetry)
        break;
    }
    return answer.why;
  });
}

}  // namespace sonde::recorder
