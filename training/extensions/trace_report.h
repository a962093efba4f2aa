// TraceReport, profile_trace: a timeline of some iterations, or of a function, as a file.
#pragma once

#include <cstdint>
#include <string>

#include <catena/autograd/trace.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/trainer.h>

namespace training {

struct TraceReportOptions {
  // The first iteration on the timeline. The first ones of a run also prepare memory and kernels.
  std::int64_t start = 10;
  std::int64_t iterations = 3;
  bool kernels = true;  // these as in autograd::TraceOptions
  bool memory = true;
  bool synchronize = true;
};

// Records iterations as an autograd::Trace does: functions, kernels, copies and memory of the thread of the trainer,
// the updates ("update 10"), and the rest of each iteration, which has the extensions ("extensions 10"). The file, in
// the trainer's folder, is written after the last of these iterations, or when the training ends before. Open it in
// https://ui.perfetto.dev or chrome://tracing.
//   trainer.extend(TraceReport("trace.json", {.start = 100, .iterations = 2}));
// ValueError for fewer than 1 iterations and a start below 1.
class CATENA_EXPORT TraceReport : public Extension {
 public:
  using Options = TraceReportOptions;
  explicit TraceReport(std::string filename = "trace.json", Options options = {});

  void initialize(Trainer& trainer) override;  // IOError for a file that cannot be written
  void before_update(Trainer& trainer) override;
  void operator()(Trainer& trainer) override;
  void finalize() override;
  std::string default_name() const override { return "TraceReport"; }

 private:
  void write();
  std::string filename_, path_;
  Options options_;
  std::int64_t last_ = 0;
  catena::Shared<autograd::Trace> trace_;
};

// Calls f() and writes a timeline of it to the file:
//   profile_trace("step.json", [&] { loss = model(x); loss.backward(); });
CATENA_EXPORT void profile_trace(const std::string& filename, const catena::Function<void()>& f,
                                 autograd::TraceOptions options = {});

}  // namespace training
