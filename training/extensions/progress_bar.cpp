#include <catena/training/extensions/progress_bar.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include <catena/kernels/base/clock.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/training/extensions/console.h>

namespace training {

using catena::check;

namespace {

constexpr std::size_t kMaxSamples = 100;  // number of updates over which the speed is averaged

// Returns the text of a time span as in Python: 1:02:03.500000, 2 days, 0:00:01.
std::string time_text(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  const auto total = static_cast<std::int64_t>(std::llround(std::clamp(seconds, 0.0, 1e12) * 1e6));
  const std::int64_t micro = total % 1000000, s = total / 1000000, days = s / 86400;
  const std::string result = days == 0 ? "" : std::to_string(days) + (days == 1 ? " day, " : " days, ");
  return catena::concat(result, s / 3600 % 24, ':', catena::padded_text(s / 60 % 60, 2), ':',
                        catena::padded_text(s % 60, 2), micro == 0 ? "" : "." + catena::padded_text(micro, 6));
}

}  // namespace

std::string internal::progress_bar_text(double part, int length) {
  const int marks = std::clamp(int(part * length), 0, length);
  return "[" + std::string(std::size_t(marks), '#') + std::string(std::size_t(length - marks), '.') + "] " +
         format_value(part, "6.2%");
}

ProgressBar::ProgressBar(Options options) : options_(std::move(options)) {
  check<catena::ValueError>(options_.update_interval > 0 && options_.bar_length > 0, "ProgressBar",
                            "the update interval is ", options_.update_interval, " and the length ",
                            options_.bar_length, "; both must be positive");
}

ProgressBar::Speed ProgressBar::measure(const Updater& updater) {
  const Sample now{double(updater.iteration()), updater.epoch_detail(), catena::internal::steady_seconds()};
  recent_.push_back(now);
  const Sample oldest = recent_.front();
  if (recent_.size() > kMaxSamples) recent_.erase(recent_.begin());
  const double span = now.seconds - oldest.seconds;
  if (span <= 0) return {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  return {(now.iteration - oldest.iteration) / span, (now.epoch_detail - oldest.epoch_detail) / span};
}

void ProgressBar::operator()(Trainer& trainer) {
  if (!options_.training_length) {
    const Trigger* const stop = trainer.stop_trigger();
    const std::optional<TrainingLength> known = stop == nullptr ? std::nullopt : stop->training_length();
    check<catena::TypeError>(known.has_value(), "ProgressBar",
                             "the length of the training is not known: the stop trigger has none, such as that of an "
                             "IntervalTrigger, so give training_length");
    options_.training_length = {known->length, known->unit};
  }
  const Updater& updater = trainer.updater();
  if (updater.iteration() % options_.update_interval != 0) return;
  const auto [length, unit] = *options_.training_length;
  const bool epochs = unit == Unit::epoch;
  const double done = epochs ? updater.epoch_detail() : double(updater.iteration());
  const Speed speed = measure(updater);
  const std::string left = time_text(std::max(length - done, 0.0) / (epochs ? speed.epochs : speed.iterations));
  const std::string length_text = format_value(length, "g") + (epochs ? " epochs" : " iterations");

  const internal::Console console(options_.out, options_.terminal);
  std::ostream& out = *console.out;
  if (!console.terminal) {
    out << "progress " << format_value(done / length, "6.2%") << "  " << std::to_string(updater.iteration())
        << " iter, " << format_value(updater.epoch_detail(), ".2f") << " epochs / " << length_text;
    if (std::isfinite(speed.iterations))
      out << "  " << format_value(speed.iterations, ".5g") << " iters/sec, left: " << left.substr(0, left.find('.'));
    out << '\n';
    out.flush();
    return;
  }
  const double detail = updater.epoch_detail();
  console.erase_below();
  out << "     total " << internal::progress_bar_text(done / length, options_.bar_length) << '\n'
      << "this epoch " << internal::progress_bar_text(detail - std::floor(detail), options_.bar_length) << '\n'
      << format_value(updater.iteration(), "10") << " iter, " << std::to_string(updater.epoch()) << " epoch / "
      << length_text << '\n'
      << format_value(speed.iterations, "10.5g") << " iters/sec. Estimated time to finish: " << left << ".\n"
      << "\033[4A";  // moves to the first of the four lines, which the next update overwrites
  out.flush();
}

void ProgressBar::finalize() {
  const internal::Console console(options_.out, options_.terminal);
  console.erase_below();
  console.out->flush();
}

}  // namespace training
