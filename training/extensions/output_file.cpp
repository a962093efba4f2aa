#include <catena/training/extensions/output_file.h>

#include <filesystem>

#include <catena/kernels/formats/atomic_file.h>

namespace training::internal {

namespace fs = std::filesystem;

void check_output_file(std::string_view op, const Trainer& trainer, const std::string& name) {
  const fs::path path = fs::path(trainer.out()) / name;
  if (path.parent_path().string().find('{') != std::string::npos) return;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  // opening a pipe would block
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) return;
  // Does the first steps of the later save. Without commit() the temporary file is removed again.
  const catena::AtomicFile trial(op, path.string());
}

}  // namespace training::internal
