// Named marks and ranges on the timeline of a profiler (NVTX). Without a profiler they do nothing, at negligible cost;
// no GPU is needed.
//
//   {
//     nd::TimeRange range("forward", {.color_id = 0});
//     y = model(x);
//   }
//   auto step = nd::time_range_decorator<update>();   step(batch);        // a range "update"
//
// Colours are ARGB. A colour id selects entry (id modulo 10) of: 00FF00, 007FFF, 7F00FF, FF0000, 7FFF00, 00FF7F,
// 0000FF, FF007F, FF7F00, 7F7F7F, all opaque; a negative id means no colour.
//
// Thread safety: all functions may be called from any thread; ranges nest within a thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <catena/kernels/base/export.h>

namespace nd {
namespace nvtx {

// True if a profiler is attached.
CATENA_EXPORT bool is_listening();

// Marks a point in time.
CATENA_EXPORT void mark(const std::string& message, int id_color = -1);
CATENA_EXPORT void mark_c(const std::string& message, std::uint32_t color = 0);
// Begins a range of this thread, nested in the ranges that are open.
CATENA_EXPORT void range_push(const std::string& message, int id_color = -1);
CATENA_EXPORT void range_push_c(const std::string& message, std::uint32_t color = 0);
// Ends the innermost open range of this thread.
CATENA_EXPORT void range_pop();

}  // namespace nvtx

struct TimeRangeOptions {
  std::optional<int> color_id = {};
  std::optional<std::uint32_t> argb_color = {};  // ValueError together with color_id
};

// A range until the end of the scope, also if an exception ends it.
class CATENA_EXPORT TimeRange {
 public:
  explicit TimeRange(const std::string& message, const TimeRangeOptions& options = {});
  ~TimeRange() { nvtx::range_pop(); }
  TimeRange(const TimeRange&) = delete;
  TimeRange& operator=(const TimeRange&) = delete;
};

namespace internal {
// Return the name of a callable: of an exported function, or of the class of an object; "" if it has none, such as a
// lambda expression or a function without a symbol.
CATENA_EXPORT std::string name_of_function(const void* address);
CATENA_EXPORT std::string name_of_class(const std::type_info& type);
CATENA_EXPORT std::string name_in_signature(const char* pretty_function);
template <auto f> std::string name_of_constant() { return name_in_signature(__PRETTY_FUNCTION__); }
template <class F> std::string name_of_callable(const F& f) {
  if constexpr (std::is_pointer_v<F>) return name_of_function(reinterpret_cast<const void*>(f));
  else return name_of_class(typeid(F));
}
}  // namespace internal

struct TimeRangeDecoratorOptions {
  std::string message = {};  // default: the name of the function if it has one, else "call"
  TimeRangeOptions range = {};
};
// Returns a function that calls `f` inside a range.
template <class F> auto time_range_decorator(F f, TimeRangeDecoratorOptions options = {}) {
  if (options.message.empty()) options.message = internal::name_of_callable(f);
  if (options.message.empty()) options.message = "call";
  return [f = std::move(f), options]<class... A>(A&&... arguments) mutable -> decltype(auto) {
    const TimeRange range(options.message, options.range);
    return f(std::forward<A>(arguments)...);
  };
}
// As above for a function that is given as a constant, which always has a name: time_range_decorator<update>().
template <auto f> auto time_range_decorator(TimeRangeDecoratorOptions options = {}) {
  if (options.message.empty()) options.message = internal::name_of_constant<f>();
  return time_range_decorator(f, std::move(options));
}
// Creates the same decorator for several functions: TimeRangeDecorator("update")(f).
class TimeRangeDecorator {
 public:
  explicit TimeRangeDecorator(std::string message = {}, const TimeRangeOptions& range = {})
      : options_{std::move(message), range} {}
  template <class F> auto operator()(F f) const { return time_range_decorator(std::move(f), options_); }

 private:
  TimeRangeDecoratorOptions options_;
};

}  // namespace nd
