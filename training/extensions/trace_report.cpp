#include <catena/training/extensions/trace_report.h>

#include <filesystem>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/training/extensions/output_file.h>

namespace training {

TraceReport::TraceReport(std::string filename, Options options) : filename_(std::move(filename)), options_(options) {
  catena::check<catena::ValueError>(options_.start >= 1 && options_.iterations >= 1, "TraceReport", "start is ",
                                    options_.start, " and iterations ", options_.iterations,
                                    "; both must be at least 1");
  priority = PRIORITY_WRITER + 100;  // right after the update
}

void TraceReport::initialize(Trainer& trainer) {
  internal::check_output_file("TraceReport", trainer, filename_);
  path_ = (std::filesystem::path(trainer.out()) / filename_).string();
}

// A training that was resumed behind `start` is recorded from its first iteration on.
void TraceReport::before_update(Trainer& trainer) {
  const std::int64_t now = trainer.updater().iteration() + 1;
  if (trace_) trace_->end_range();  // the extensions of the iteration before
  else if (last_ == 0 && now >= options_.start) {
    last_ = now + options_.iterations - 1;
    trace_ = catena::Shared<autograd::Trace>::make(
        autograd::TraceOptions{options_.kernels, options_.memory, options_.synchronize});
  }
  if (trace_ && now > last_) return write();
  if (trace_) trace_->begin_range(catena::concat("update ", now), "iteration");
}

void TraceReport::operator()(Trainer& trainer) {
  if (!trace_) return;
  trace_->end_range();
  trace_->begin_range(catena::concat("extensions ", trainer.updater().iteration()), "iteration");
}

void TraceReport::finalize() {
  if (!trace_) return;
  trace_->end_range();
  write();
}

void TraceReport::write() {
  const std::string json = trace_->json();
  trace_ = {};
  catena::write_file_atomically("TraceReport", path_, json);
}

void profile_trace(const std::string& filename, const catena::Function<void()>& f, autograd::TraceOptions options) {
  std::string json;
  {
    const autograd::Trace trace(options);
    f();
    json = trace.json();
  }
  catena::write_file_atomically("profile_trace", filename, json);
}

}  // namespace training
