// Logs of the means of observed values that are appended to files: lines of JSON, and event files for TensorBoard.
#pragma once

#include <string>

#include <catena/kernels/base/pointers.h>
#include <catena/training/extensions/log_report.h>
#include <catena/training/extensions/summary_writer.h>

namespace training {

// Appends each entry to a file in the trainer's folder, as one line of JSON, and never rewrites the earlier
// lines. A new training begins a new file; a resumed one first removes the entries after its iteration, and a line that
// a killed process left unfinished. IOError for a file that cannot be written.
class CATENA_EXPORT JsonLinesLog : public IntervalLog {
 public:
  explicit JsonLinesLog(std::string name = "log.jsonl", Options options = {});
  ~JsonLinesLog() override;
  JsonLinesLog(JsonLinesLog&&) noexcept;
  void initialize(Trainer& trainer) override;
  void finalize() override;
  std::string default_name() const override { return "JsonLinesLog"; }

 protected:
  void write(Trainer& trainer, const LogEntry& entry) override;

 private:
  std::string name_;
  catena::Owned<internal::AppendFile> file_;
};

// Writes the means as scalars for TensorBoard, into a folder below the trainer's; the step is the iteration.
//   trainer.extend(TensorBoardLog());   // tensorboard --logdir result/tensorboard
class CATENA_EXPORT TensorBoardLog : public IntervalLog {
 public:
  explicit TensorBoardLog(std::string folder = "tensorboard", Options options = {});
  void initialize(Trainer& trainer) override;
  void finalize() override;
  std::string default_name() const override { return "TensorBoardLog"; }
  // For histograms, images and texts beside the scalars. RuntimeError outside of a run.
  SummaryWriter& writer();

 protected:
  void write(Trainer& trainer, const LogEntry& entry) override;

 private:
  std::string folder_;
  catena::Owned<SummaryWriter> writer_;
};

}  // namespace training
