#include <catena/training/datasets/download.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>

#ifdef CATENA_HAS_CURL
#include <curl/curl.h>
#endif

namespace training::datasets::internal {

namespace fs = std::filesystem;

#ifdef CATENA_HAS_CURL
namespace {

struct Sink {
  std::FILE* file;
  std::size_t written = 0, limit;
};

std::size_t receive(char* data, std::size_t size, std::size_t n, void* to) {
  auto* sink = static_cast<Sink*>(to);
  if (sink->written + size * n > sink->limit) return 0;  // a short count makes curl abort the transfer
  sink->written += size * n;
  return std::fwrite(data, size, n, sink->file) * size;
}

bool fetch(const std::string& url, const std::string& path, std::size_t limit, std::string& why) {
  catena::reserve_standard_descriptors();  // for the file and for curl's sockets
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(ready == CURLE_OK ? curl_easy_init() : nullptr,
                                                                 &curl_easy_cleanup);
  Sink sink{std::fopen(path.c_str(), "wb"), 0, limit};
  if (curl == nullptr || sink.file == nullptr) {
    why = curl == nullptr ? "curl cannot be initialised" : "cannot write \"" + path + "\"";
    if (sink.file != nullptr) std::fclose(sink.file);
    return false;
  }
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);  // no signals, because the program may have threads
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, 5L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, 1000L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, 10L);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &sink);
  const CURLcode code = curl_easy_perform(curl.get());
  const bool closed = std::fclose(sink.file) == 0;
  if (code != CURLE_OK) why = curl_easy_strerror(code);
  else if (!closed) why = "cannot write \"" + path + "\"";
  return code == CURLE_OK && closed;
}

}  // namespace
#endif

bool download(const std::string& url, const std::string& path, std::size_t limit,
              const catena::Function<void(const std::string& temporary)>& verify, std::string& why) {
  if (const char* offline = std::getenv("CATENA_OFFLINE"); offline != nullptr && *offline != '\0') {
    why = "CATENA_OFFLINE is set";
    return false;
  }
#ifdef CATENA_HAS_CURL
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  {
    const catena::BrokenPipeScope unread;
    std::fputs(catena::concat("Downloading from ", url, "...\n").c_str(), stderr);
  }
  catena::remove_abandoned_files(path);
  const std::string temporary = catena::temporary_path(path);
  bool good = fetch(url, temporary, limit, why);
  if (good) {
    try {
      verify(temporary);
      fs::rename(temporary, path, error);
      if (error) why = error.message();
      good = !error;
    } catch (const catena::Error& e) {
      why = e.what();
      good = false;
    }
  }
  if (!good) fs::remove(temporary, error);
  return good;
#else
  static_cast<void>(url), static_cast<void>(path), static_cast<void>(limit), static_cast<void>(verify);
  why = "this build has no curl";
  return false;
#endif
}

}  // namespace training::datasets::internal
