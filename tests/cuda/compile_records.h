// The results of the GPU's compiler for kernels, in a file that outlives a run: a line per kernel and architecture, by
// the hash of the kernel's text, of every header that it includes, of the options, the architecture and the compiler's
// version. Several processes may append to the file at a time. A line that is damaged is no record.
//
// The file is compile_records.txt in $CATENA_TEST_NVRTC_CACHE or, without it, in $CATENA_TEST_BUILD_DIR, the tests'
// part of the build folder; without both nothing is kept.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <unordered_map>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/embedded.h>
#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/tests/support/cuda_device/kernel_text.h>

namespace test {

inline std::uint64_t compilation_hash(const std::string& source, int arch) {
  const nd::cuda::Nvrtc& compiler = nd::cuda::nvrtc();
  std::uint64_t hash =
      catena::fnv1a(catena::concat(source, "\nsm_", arch, " ", compiler.major_version, ".", compiler.minor_version));
  for (const char* option : nd::cuda::compile_options()) hash = catena::fnv1a(catena::concat(option, "\n"), hash);
  const auto text_of = [](const std::string& name) {
    const catena::EmbeddedHeader* header = catena::find_embedded_header(name);
    return header != nullptr ? header->text() : std::string();
  };
  for (const std::string& name : cuda_device::all_included(source, text_of)) {
    const catena::EmbeddedHeader* header = catena::find_embedded_header(name);
    hash = catena::fnv1a(catena::concat(name, " ", header != nullptr ? header->hash : 0, "\n"), hash);
  }
  return hash;
}

class CompileRecords {
 public:
  static std::filesystem::path file_of_environment() {
    for (const char* variable : {"CATENA_TEST_NVRTC_CACHE", "CATENA_TEST_BUILD_DIR"})
      if (const char* folder = std::getenv(variable); folder != nullptr && *folder != '\0')
        return std::filesystem::path(folder) / "compile_records.txt";
    return {};
  }

  explicit CompileRecords(std::filesystem::path file) : file_(std::move(file)) {
    constexpr std::uintmax_t limit = 16 << 20;  // some twenty times what one state of the kernels needs
    if (std::error_code none; !file_.empty() && std::filesystem::file_size(file_, none) > limit && !none)
      std::filesystem::remove(file_, none);
    std::ifstream in(file_);
    for (std::string line; std::getline(in, line);) read(line);
  }

  const nd::cuda::KernelResources* find(std::uint64_t hash) const {
    const auto found = records_.find(hash);
    return found == records_.end() ? nullptr : &found->second;
  }
  std::size_t size() const { return records_.size(); }

  // Written at once; find() of this object does not give it.
  void add(std::uint64_t hash, const nd::cuda::KernelResources& r) {
    if (file_.empty()) return;
    const std::string values = catena::concat(hash, " ", r.name, " ", r.registers, " ", r.stack, " ", r.spill_stores,
                                              " ", r.spill_loads, " ", r.shared);
    const std::string line = catena::concat(values, " ", catena::fnv1a(values), "\n");
    const std::lock_guard lock(mutex_);
    std::filesystem::create_directories(file_.parent_path());
    const int file = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    const bool written = file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    if (file >= 0) ::close(file);
    catena::check<catena::IOError>(written, "compile records", "cannot write ", file_.string());
  }

 private:
  void read(const std::string& line) {
    const std::size_t last = line.rfind(' ');
    if (last == line.npos || line.substr(last + 1) != std::to_string(catena::fnv1a(line.substr(0, last)))) return;
    std::istringstream words(line);
    std::uint64_t hash = 0;
    nd::cuda::KernelResources r;
    if (words >> hash >> r.name >> r.registers >> r.stack >> r.spill_stores >> r.spill_loads >> r.shared)
      records_[hash] = r;
  }

  std::filesystem::path file_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, nd::cuda::KernelResources> records_;
};

}  // namespace test
