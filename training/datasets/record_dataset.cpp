#include <catena/training/datasets/record_dataset.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <span>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/npz.h>
#include <catena/kernels/formats/record_file.h>

namespace training {

using catena::check;
using catena::ValueError;

namespace {

std::string encoded(const Example& example) {
  check<ValueError>(!example.values.empty(), "RecordWriter", "the example has no values");
  catena::MemorySink bytes;
  catena::NpzWriter npz(bytes, false);
  for (std::size_t i = 0; i < example.values.size(); ++i) {
    const Array& value = example.values[i];
    const std::string name = example.is_map() ? example.names[i] : std::to_string(i);
    check<ValueError>(bool(value), "RecordWriter", "value ", name, " of the example is a null array");
    check<ValueError>(!example.is_map() || !catena::parse_integer(name), "RecordWriter", "a map has the name \"", name,
                      "\"; numbers stand for the values of tuples");
    std::vector<std::byte> elements(std::size_t(value.size()) * catena::itemsize(value.dtype()));
    autograd::to_host(value, elements.data());
    npz.add(name, value.dtype(), value.shape(), elements);
  }
  npz.finish();
  const std::vector<std::byte>& all = bytes.bytes();
  return {reinterpret_cast<const char*>(all.data()), all.size()};
}

Example decoded(const std::string& context, const std::string& record) {
  const auto bytes = std::as_bytes(std::span(record));
  const catena::NpzReader npz(catena::ZipReader(context, std::make_unique<catena::MemoryAccess>(bytes)));
  Example example;
  bool is_tuple = true;
  for (const std::string& key : npz.keys()) {
    const catena::NpyArray array = npz.read(key);
    check<ValueError>(array.dtype.has_value(), context, "the array \"", key, "\" has the element type ", array.descr,
                      ", which the library does not have");
    is_tuple = is_tuple && key == std::to_string(example.values.size());
    example.names.push_back(key);
    example.values.push_back(autograd::from_host(array.data.data(), array.shape, *array.dtype, Device{}));
  }
  if (is_tuple) example.names.clear();
  return example;
}

}  // namespace

struct RecordWriter::File {
  explicit File(const std::string& path) : file("RecordWriter", path) {}
  catena::AtomicFile file;
};

RecordWriter::RecordWriter(const std::string& path) : file_(new File(path)) {}
RecordWriter::~RecordWriter() = default;

void RecordWriter::write(const Example& example) {
  check<catena::RuntimeError>(bool(file_), "RecordWriter", "the file is closed");
  const std::string record = catena::framed_record(encoded(example));
  file_->file.write(record.data(), record.size());
}

void RecordWriter::close() {
  if (!file_) return;
  file_->file.commit();
  file_.reset();
}

void write_records(const std::string& path, AnyDataset dataset) {
  RecordWriter writer(path);
  for (std::int64_t i = 0; i < dataset->size(); ++i) writer.write(dataset->get_example(i));
  writer.close();
}

struct RecordDataset::Files {
  std::deque<catena::RecordReader> readers;
  std::vector<std::int64_t> ends;  // of the numbers of the records of each file
};

RecordDataset::RecordDataset(const std::vector<std::string>& paths) {
  check<ValueError>(!paths.empty(), "RecordDataset", "there are no files");
  const auto files = catena::Shared<Files>::make();
  std::int64_t size = 0;
  for (const std::string& path : paths) {
    files->readers.emplace_back("RecordDataset", path);
    files->ends.push_back(size += files->readers.back().size());
  }
  files_ = files;
}
RecordDataset::~RecordDataset() = default;

std::int64_t RecordDataset::size() const { return files_->ends.back(); }

Example RecordDataset::get_example(std::int64_t i) const {
  const auto k = std::size_t(std::upper_bound(files_->ends.begin(), files_->ends.end(), i) - files_->ends.begin());
  const std::int64_t at = k == 0 ? i : i - files_->ends[k - 1];
  const catena::RecordReader& reader = files_->readers[k];
  return decoded(reader.context(at), reader.read(at));
}

}  // namespace training
