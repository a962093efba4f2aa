// Datasets of record files, which keep examples of any kind in one file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/training/dataset.h>

namespace training {

// Writes a file of examples. A record is an npz archive, not compressed, with the arrays of an example: under the names
// of a map, or "0", "1", ... for a tuple. Records have the framing of TensorFlow's files (TFRecord), with checksums, so
// that other programs read the file: np.load(io.BytesIO(record)) in Python.
//
//   training::RecordWriter writer("train.records");
//   for (...) writer.write({image, label});
//   writer.close();
//
// The file appears with close(), complete; without it (an exception) there is none. Arrays may be on any device.
// IOError if it cannot be written.
class CATENA_EXPORT RecordWriter {
 public:
  explicit RecordWriter(const std::string& path);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;
  // ValueError for an example without values, a null array, and a name of a map that is a number. RuntimeError after
  // close().
  void write(const Example& example);
  void close();

 private:
  struct File;
  catena::Owned<File> file_;
};

// Writes all examples of a dataset.
CATENA_EXPORT void write_records(const std::string& path, AnyDataset dataset);

// Example i is record i of a file, or of several files one after the other, as arrays on the CPU. Opening a file reads
// the lengths of its records. IOError if it cannot be read; ValueError for damaged content, with the file and the
// number of the record. get_example may be called from several threads and from worker processes.
class CATENA_EXPORT RecordDataset : public DatasetMixin {
 public:
  explicit RecordDataset(const std::string& path) : RecordDataset(std::vector<std::string>{path}) {}
  explicit RecordDataset(const std::vector<std::string>& paths);
  explicit RecordDataset(std::initializer_list<std::string> paths) : RecordDataset(std::vector<std::string>(paths)) {}
  ~RecordDataset() override;
  std::int64_t size() const override;
  Example get_example(std::int64_t i) const override;

 private:
  struct Files;
  catena::Shared<const Files> files_;
};

}  // namespace training
