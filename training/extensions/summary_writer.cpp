#include <catena/training/extensions/summary_writer.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/record_file.h>
#include <catena/kernels/formats/wire.h>
#include <catena/training/append_file.h>
#include <catena/training/datasets/image_file.h>

namespace training {

using catena::check;
using catena::ValueError;

namespace {

template <class T> std::string little_endian(T value) {
  static_assert(std::endian::native == std::endian::little);
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

// ---- fields of messages ----
std::string integer_field(std::uint32_t number, std::uint64_t value) {
  catena::WireWriter writer;
  writer.varint(number, value);
  return writer.take();
}
std::string double_field(std::uint32_t number, double value) {
  catena::WireWriter writer;
  writer.fixed64(number, value);
  return writer.take();
}
std::string float_field(std::uint32_t number, float value) {
  catena::WireWriter writer;
  writer.fixed32(number, value);
  return writer.take();
}
std::string bytes_field(std::uint32_t number, std::string_view bytes) {
  catena::WireWriter writer;
  writer.bytes(number, bytes);
  return writer.take();
}
std::string doubles_field(std::uint32_t number, const std::vector<double>& values) {
  catena::WireWriter packed;
  for (const double value : values) packed.packed(value);
  return bytes_field(number, packed.text());
}

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// tensorflow/core/util/event.proto and framework/summary.proto
std::string event(std::string_view rest) { return catena::framed_record(double_field(1, now()).append(rest)); }
std::string value_of(std::string_view tag, std::string_view rest) { return bytes_field(1, tag).append(rest); }

// An image with values 0 to 255 in place of 0 to 1.
Array with_bytes(const Array& image) {
  const bool may_be_unit = image && image.size() > 0 && catena::is_floating(image.dtype());
  if (!may_be_unit) return image;
  const std::vector<double> values = autograd::to_vector<double>(image);
  const bool is_unit = std::ranges::all_of(values, [](double v) { return v <= 1; });
  return is_unit ? image * 255.0 : image;
}

// "events.out.tfevents.<seconds>.<host>.<process>.<number>"
std::string event_file_name() {
  static std::atomic<int> made{0};
  char host[256] = "localhost";
  static_cast<void>(::gethostname(host, sizeof host - 1));
  return catena::concat("events.out.tfevents.", std::int64_t(now()), '.', static_cast<const char*>(host), '.',
                        ::getpid(), '.', made++);
}

}  // namespace

std::string HyperparameterValue::of_number(double number) { return catena::concat(number); }

SummaryWriter::SummaryWriter(const std::string& folder, Folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  check<catena::IOError>(!error, "SummaryWriter", "cannot create the folder \"", folder, "\": ", error.message());
  path_ = (std::filesystem::path(folder) / event_file_name()).string();
  file_ = catena::Owned<internal::AppendFile>(new internal::AppendFile("SummaryWriter", path_));
  file_->write(event(bytes_field(3, "brain.Event:2")));
}

SummaryWriter::~SummaryWriter() = default;

void SummaryWriter::add(std::string_view value, std::int64_t step) {
  file_->write(event(integer_field(2, std::uint64_t(step)) + bytes_field(5, bytes_field(1, value))));
}

void SummaryWriter::add_scalar(std::string_view tag, double value, std::int64_t step) {
  add(value_of(tag, float_field(2, float(value))), step);
}

void SummaryWriter::add_histogram(std::string_view tag, const Array& values, std::int64_t step, int bins) {
  check<ValueError>(bins >= 1, "add_histogram", "bins is ", bins, " and must be at least 1");
  check<ValueError>(values.size() > 0, "add_histogram", "the array of shape ", values.shape(), " has no elements");
  check<catena::TypeError>(!catena::is_complex_dtype(values.dtype()), "add_histogram", "elements are real, not ",
                           values.dtype());
  const std::vector<double> v = autograd::to_vector<double>(values);
  const auto [low, high] = std::minmax_element(v.begin(), v.end());
  double sum = 0, squares = 0;
  for (const double x : v) {
    check<ValueError>(std::isfinite(x), "add_histogram", "an element is ", x, "; all must be finite");
    sum += x, squares += x * x;
  }
  // Bucket k has the elements up to limit k; TensorBoard wants an empty one before the first element.
  const double width = (*high - *low) / bins;
  std::vector<double> limits(std::size_t(bins) + 1), counts(std::size_t(bins) + 1, 0.0);
  for (int k = 0; k <= bins; ++k) limits[std::size_t(k)] = k == bins ? *high : *low + k * width;
  for (const double x : v) {
    const int k = width > 0 ? std::min(int((x - *low) / width), bins - 1) : bins - 1;
    ++counts[std::size_t(k) + 1];
  }
  const std::string histogram = double_field(1, *low) + double_field(2, *high) + double_field(3, double(v.size())) +
                                double_field(4, sum) + double_field(5, squares) + doubles_field(6, limits) +
                                doubles_field(7, counts);
  add(value_of(tag, bytes_field(5, histogram)), step);
}

namespace {

// The value of an image of uint8.
std::string image_value(std::string_view tag, const char* who, const Array& bytes) {
  const std::string png = datasets::internal::encode_png(who, bytes);
  const int n = bytes.ndim();
  return value_of(tag, bytes_field(4, integer_field(1, std::uint64_t(bytes.shape()[n - 2])) +
                                          integer_field(2, std::uint64_t(bytes.shape()[n - 1])) + integer_field(3, 3) +
                                          bytes_field(4, png)));
}

}  // namespace

void SummaryWriter::add_image(std::string_view tag, const Array& image, std::int64_t step) {
  add(image_value(tag, "add_image", with_bytes(image)), step);
}

void SummaryWriter::add_text(std::string_view tag, std::string_view text, std::int64_t step) {
  constexpr int string_dtype = 7;
  const std::string metadata = bytes_field(9, bytes_field(1, bytes_field(1, "text")));
  const std::string shape = bytes_field(2, bytes_field(2, integer_field(1, 1)));
  const std::string tensor = bytes_field(8, integer_field(1, string_dtype) + shape + bytes_field(8, text));
  add(value_of(tag, tensor + metadata), step);
}

void SummaryWriter::add_scalars(std::string_view tag, const NamedValues& values, std::int64_t step) {
  for (const auto& [name, value] : values) add_scalar(catena::concat(tag, "/", name), value, step);
}

void SummaryWriter::add_hparams(const Hyperparameters& hyperparameters, const NamedValues& measures) {
  std::string table = "| hyperparameter | value |\n|---|---|\n";
  for (const auto& [name, value] : hyperparameters) table += catena::concat("| ", name, " | ", value.text(), " |\n");
  add_text("hparams", table, 0);
  for (const auto& [name, value] : measures) add_scalar(name, value, 0);
}

void SummaryWriter::add_images(std::string_view tag, const Array& images, std::int64_t step) {
  add(image_value(tag, "add_images", datasets::image_grid(with_bytes(images))), step);
}

}  // namespace training
