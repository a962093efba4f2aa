// The thread that writes a snapshot while the training goes on. Internal to this folder.
#pragma once

#include <exception>
#include <thread>

#include <catena/kernels/base/function.h>

namespace training::internal {

// Runs one job at a time on a thread of its own. The destructor waits for it.
class SnapshotWriter {
 public:
  SnapshotWriter() = default;
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  // Waits for the job before; what that one has thrown is thrown here, and the new job is not run.
  void start(catena::Function<void()> job);
  // Waits for the job, and throws its exception.
  void wait();

 private:
  std::thread thread_;
  std::exception_ptr error_;
};

}  // namespace training::internal
