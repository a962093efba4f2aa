#include <catena/nn/link_hooks/timer_hook.h>

#include <algorithm>
#include <iostream>
#include <typeinfo>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/debug.h>
#include <catena/kernels/base/clock.h>
#include <catena/kernels/base/text.h>

namespace nn::link_hooks {
namespace {

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr Unit kUnits[] = {{"sec", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};

// "1.250ms"; `unit`: a name, or "auto" for the largest unit of which there is at least one.
std::string time_text(double seconds, std::string_view unit) {
  for (const Unit& u : kUnits)
    if (u.name == unit || (unit == "auto" && (seconds >= u.seconds || u.name == "ns")))
      return catena::fixed_text(seconds / u.seconds, 3) + std::string(u.name);
  catena::fail<catena::ValueError>("TimerHook", "the unit is \"", unit, "\"; it must be auto, sec, ms, us or ns");
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

}  // namespace

void TimerHook::forward_preprocess(Link&, const Variables&) {
  started_.push_back(catena::internal::steady_nanoseconds());
}

void TimerHook::forward_postprocess(Link& link, const Variables&, const Variables& outputs) {
  for (const Variable& y : outputs)
    if (y && y.data()) y.data().backend().synchronize(y.device());
  const double seconds = double(catena::internal::steady_nanoseconds() - started_.back()) * 1e-9;
  call_history_.emplace_back(autograd::internal::class_name(typeid(link)), seconds);
  started_.pop_back();
  if (started_.empty()) total_time_ += seconds;
}

void TimerHook::failed(Link&) noexcept { started_.pop_back(); }

std::vector<TimerHook::Entry> TimerHook::summary() const {
  std::vector<Entry> entries;
  for (const auto& [link, seconds] : call_history_) {
    const auto known = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.link == link; });
    Entry& e = known == entries.end() ? entries.emplace_back(Entry{link, 0, 0}) : *known;
    e.elapsed_time += seconds;
    ++e.occurrence;
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.elapsed_time > b.elapsed_time; });
  return entries;
}

std::string TimerHook::report(std::string_view unit) const {
  time_text(0, unit);  // checks the unit
  const std::vector<Entry> entries = summary();
  std::size_t width = std::string_view("LinkName").size();
  for (const Entry& e : entries) width = std::max(width, e.link.size());
  constexpr std::size_t kTime = 14, kCount = 12;
  std::string text = padded("LinkName", width) + padded("ElapsedTime", kTime) + padded("Occurrence", kCount) + "\n";
  for (const Entry& e : entries)
    text += padded(e.link, width) + padded(time_text(e.elapsed_time, unit), kTime) +
            padded(std::to_string(e.occurrence), kCount) + "\n";
  return text;
}

void TimerHook::print_report(std::string_view unit) const { print_report(std::cout, unit); }
void TimerHook::print_report(std::ostream& out, std::string_view unit) const { out << report(unit); }

}  // namespace nn::link_hooks
