#include <catena/training/extensions/snapshot_writer.h>

#include <utility>

#include <catena/kernels/base/descriptors.h>

namespace training::internal {

SnapshotWriter::~SnapshotWriter() {
  if (thread_.joinable()) thread_.join();
}

void SnapshotWriter::start(catena::Function<void()> job) {
  wait();
  thread_ = std::thread([this, job = std::move(job)] {
    try {
      const catena::BrokenPipeScope unread;
      job();
    } catch (...) {
      error_ = std::current_exception();
    }
  });
}

void SnapshotWriter::wait() {
  if (thread_.joinable()) thread_.join();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace training::internal
