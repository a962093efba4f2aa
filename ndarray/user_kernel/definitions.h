// Tables of definitions by their complete text. Internal to ndarray/user_kernel.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <catena/kernels/base/error.h>

namespace nd::internal {

// Equal definitions share one object, which exists until the program ends. Thread safety: find() may be called from any
// thread.
template <class T> class Definitions {
 public:
  template <class F> const T& find(const std::string& key, F&& make) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<const T>& slot = made_[key];
    if (slot == nullptr) slot = make();
    return *slot;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<const T>> made_;
};

// Joins pieces of text to one string; different pieces give different strings.
template <class... S> std::string joined(const S&... pieces) {
  std::string all;
  ((all += catena::concat(std::string_view(pieces).size(), ':', pieces)), ...);
  return all;
}

}  // namespace nd::internal
