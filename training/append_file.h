// A file to which a log is appended. Internal to training and training/extensions.
#pragma once

#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>

namespace training::internal {

// Creates the file, or opens it at its end. Each write is one system call with the whole text, so a process that is
// killed leaves no part of a line but for a full disk. IOError, with `op` and the path, if the file cannot be opened or
// written.
class CATENA_EXPORT AppendFile {
 public:
  AppendFile(std::string_view op, std::string path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  void write(std::string_view text);

 private:
  std::string op_, path_;
  int descriptor_ = -1;
};

}  // namespace training::internal
