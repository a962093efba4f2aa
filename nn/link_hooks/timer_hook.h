// Times of calls of links.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/nn/link_hook.h>

namespace nn::link_hooks {

// Measures the wall time of every call until the device of the result has finished. The time of a link contains those
// of the links that it calls. Calls that end with an exception are not in the history. A hook belongs to one thread.
//
//   nn::link_hooks::TimerHook timer;
//   { nn::LinkHookScope scope(timer); model(x); }
//   timer.print_report();
class CATENA_EXPORT TimerHook : public LinkHook {
 public:
  std::string name() const override { return "TimerHook"; }
  void forward_preprocess(Link& link, const Variables& args) override;
  void forward_postprocess(Link& link, const Variables& args, const Variables& outputs) override;
  void failed(Link& link) noexcept override;
  [[nodiscard]] LinkHookScope scope() { return LinkHookScope(*this); }  // of all links that the thread calls

  // Classes of links and seconds, in the order in which the calls ended.
  const std::vector<std::pair<std::string, double>>& call_history() const noexcept { return call_history_; }
  // The sum of the times of the outermost links, in seconds.
  double total_time() const noexcept { return total_time_; }

  // One row for each class of links, by decreasing time.
  struct Entry {
    std::string link;
    double elapsed_time;  // in seconds
    std::int64_t occurrence;
  };
  std::vector<Entry> summary() const;
  // Writes the summary as a table. unit: "sec", "ms", "us", "ns", or "auto", by which each time gets its own;
  // ValueError for others.
  std::string report(std::string_view unit = "auto") const;
  void print_report(std::string_view unit = "auto") const;  // to std::cout
  void print_report(std::ostream& out, std::string_view unit = "auto") const;

 private:
  std::vector<std::int64_t> started_;  // in nanoseconds; a stack, because links call links
  std::vector<std::pair<std::string, double>> call_history_;
  double total_time_ = 0;
};

}  // namespace nn::link_hooks

namespace nn {
using link_hooks::TimerHook;
}
