#include <catena/autograd/ndarray_backend/profile_extension.h>

#include <catena/ndarray/engine/call_watch.h>
#include <catena/ndarray/memory/memory_hook.h>
#include <catena/ndarray/profile/nvtx.h>

namespace autograd::internal {

namespace {

class SinkWatch final : public ProfileExtension::Watch, nd::internal::CallWatch, nd::MemoryHook {
 public:
  explicit SinkWatch(ProfileSink& sink) : sink_(sink), calls_(*this), memory_(*this) {}

 private:
  void begin_call(std::string_view op) override { sink_.operation_begin(op); }
  void begin_copy(Device to, Device from, std::size_t bytes) override { sink_.copy_begin(to, from, bytes); }
  void end() override { sink_.end(); }

  void malloc_preprocess(const nd::MemoryEvent&) override { acquired_ = 0; }
  void alloc_postprocess(const nd::MemoryEvent& e) override { acquired_ += e.bytes; }
  void malloc_postprocess(const nd::MemoryEvent& e) override { sink_.allocated(e.device, e.block_bytes, acquired_); }
  void free_postprocess(const nd::MemoryEvent& e) override { sink_.freed(e.device, e.block_bytes); }

  ProfileSink& sink_;
  std::size_t acquired_ = 0;
  nd::internal::CallWatch::Scope calls_;
  nd::MemoryHookScope memory_;
};

class NdarrayProfile final : public ProfileExtension {
 public:
  void range_push(const std::string& name) override { nd::nvtx::range_push(name); }
  void range_pop() override { nd::nvtx::range_pop(); }
  catena::Owned<Watch> watch(ProfileSink& sink) override { return catena::Owned<Watch>(new SinkWatch(sink)); }
};

}  // namespace

ProfileExtension& ndarray_profile_extension() {
  static NdarrayProfile extension;
  return extension;
}

}  // namespace autograd::internal
