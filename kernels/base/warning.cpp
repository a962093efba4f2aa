#include <catena/kernels/base/warning.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>

namespace catena {
namespace {

std::atomic<WarningHandler> warning_handler{nullptr};
std::atomic<bool> experimental_silenced{false};

void print_once(std::string_view category, std::string_view message) {
  static std::mutex mutex;
  static std::set<std::string> printed;
  const std::string text = concat(category, ": ", message);
  const std::lock_guard lock(mutex);
  const BrokenPipeScope unread;
  if (printed.insert(text).second) std::fputs((text + "\n").c_str(), stderr);
}

}  // namespace

WarningHandler set_warning_handler(WarningHandler handler) noexcept { return warning_handler.exchange(handler); }

void warn(std::string_view category, std::string_view message) {
  const WarningHandler handler = warning_handler.load();
  (handler ? handler : &print_once)(category, printable(message));
}

void set_disable_experimental_feature_warning(bool disable) noexcept { experimental_silenced = disable; }
bool disable_experimental_feature_warning() noexcept { return experimental_silenced; }

void experimental(std::string_view api_name) {
  if (!experimental_silenced)
    warn("FutureWarning", concat(api_name, " is experimental. The interface can change in the future."));
}

void warn_of_lost_imaginary_part(std::string_view op, Dtype from, Dtype to) {
  if (!is_complex_dtype(from) || is_complex_dtype(to) || to == Dtype::bool_) return;
  warn("ComplexWarning", concat(op, ": casting ", from, " to ", to, " discards the imaginary part"));
}

}  // namespace catena
