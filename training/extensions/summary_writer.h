// Event files for TensorBoard: curves, histograms and pictures of a training, written without another library.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/pointers.h>

namespace training {

using autograd::Array;
namespace internal {
class AppendFile;
}

// PyTorch's options: the folder is log_dir + comment.
struct SummaryWriterOptions {
  std::string log_dir = "runs", comment = {};
};

// PyTorch's name of `step` in the calls: {.global_step = 3}.
struct SummaryStep {
  std::int64_t global_step = 0;
};
// The value of a hyperparameter: a number, true or false, or a text.
class HyperparameterValue {
 public:
  template <class T> HyperparameterValue(T number) requires std::is_arithmetic_v<T> {
    if constexpr (std::is_same_v<T, bool>) text_ = number ? "True" : "False";
    else if constexpr (std::is_integral_v<T>) text_ = std::to_string(number);
    else text_ = of_number(double(number));
  }
  HyperparameterValue(const char* text) : text_(text) {}
  HyperparameterValue(std::string text) : text_(std::move(text)) {}
  const std::string& text() const noexcept { return text_; }

 private:
  CATENA_EXPORT static std::string of_number(double number);
  std::string text_;
};

// Writes an event file into a folder, which is created: `tensorboard --logdir folder` shows it. Several writers, also
// of resumed trainings, may use one folder, because each has a file of its own.
//
//   training::SummaryWriter writer("runs/first");
//   writer.add_scalar("loss", 0.5, step);
//
// Every call appends whole records. IOError if the folder or the file cannot be written. Arrays may be on any device;
// TypeError for complex ones.
class CATENA_EXPORT SummaryWriter {
 public:
  SummaryWriter() : SummaryWriter(SummaryWriterOptions{}) {}
  template <std::convertible_to<std::string> S>
  explicit SummaryWriter(const S& folder) : SummaryWriter(std::string(folder), Folder()) {}
  template <std::same_as<SummaryWriterOptions> O = SummaryWriterOptions>
  explicit SummaryWriter(const O& o) : SummaryWriter(o.log_dir + o.comment) {}
  ~SummaryWriter();
  SummaryWriter(const SummaryWriter&) = delete;
  SummaryWriter& operator=(const SummaryWriter&) = delete;

  using NamedValues = std::vector<std::pair<std::string, double>>;
  using Hyperparameters = std::vector<std::pair<std::string, HyperparameterValue>>;

  void add_scalar(std::string_view tag, double value, std::int64_t step = 0);
  // Of a variable or an array with one element.
  template <std::derived_from<autograd::Variable> V>
  void add_scalar(std::string_view tag, const V& value, std::int64_t step = 0) {
    add_scalar(tag, value.template item<double>(), step);
  }
  template <class V, std::same_as<SummaryStep> S = SummaryStep>
  void add_scalar(std::string_view tag, const V& value, const S& step) {
    add_scalar(tag, value, step.global_step);
  }
  // One curve for each name: "tag/name". add_scalars("loss", {{"train", 0.5}, {"test", 0.6}}, step)
  void add_scalars(std::string_view tag, const NamedValues& values, std::int64_t step = 0);
  // The hyperparameters as a table in a text, "hparams", and the measures as scalars.
  void add_hparams(const Hyperparameters& hyperparameters, const NamedValues& measures);
  // The distribution of the elements: as many intervals of equal width as `bins` between the least and the greatest
  // one. ValueError for an array without elements, elements that are not finite, and fewer than 1 bins.
  void add_histogram(std::string_view tag, const Array& values, std::int64_t step = 0, int bins = 30);
  template <std::derived_from<autograd::Variable> V>
  void add_histogram(std::string_view tag, const V& values, std::int64_t step = 0, int bins = 30) {
    add_histogram(tag, values.data(), step, bins);
  }
  // An image as for datasets::write_image: (H, W), (1, H, W) or (3, H, W), values 0 to 255, or 0 to 1 if it is floating
  // and has no greater ones.
  void add_image(std::string_view tag, const Array& image, std::int64_t step = 0);
  // Images (N, C, H, W) of these values, side by side as by datasets::image_grid.
  void add_images(std::string_view tag, const Array& images, std::int64_t step = 0);
  // A text, which TensorBoard shows with its step.
  void add_text(std::string_view tag, std::string_view text, std::int64_t step = 0);
  // Graphs are files of their own: nn::onnx::export_(model, x, "model.onnx"), or extensions::DumpGraph
  template <class... A> void add_graph(const A&...) = delete;
  // PyTorch's names, without effect: every call has written whole records, and the destructor closes the file.
  void flush() noexcept {}
  void close() noexcept {}
  const std::string& path() const noexcept { return path_; }  // of the event file

 private:
  // No public constructor takes a std::string, which g++ would make of two options in braces.
  struct Folder {};
  SummaryWriter(const std::string& folder, Folder);
  void add(std::string_view value, std::int64_t step);
  std::string path_;
  catena::Owned<internal::AppendFile> file_;
};

// PyTorch's module.
namespace utils::tensorboard {
using training::SummaryWriter;
}  // namespace utils::tensorboard
namespace tensorboard = utils::tensorboard;

}  // namespace training
