#include <catena/autograd/ndarray_backend/comm_extension.h>

#include <cstring>
#include <vector>

#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/vendor/nccl.h>

namespace autograd::internal {
namespace {

using nd::cuda::NcclCommunicator;
using nd::cuda::NcclGroup;

class NcclRanks final : public CommExtension::Group {
 public:
  explicit NcclRanks(std::span<const Device> devices) : ranks_(NcclCommunicator::all(ids_of(devices))) {}

  void reduce(std::span<const Array> arrays) override {
    check_count("reduce", arrays);
    NcclGroup group;  // one thread makes the calls for all ranks
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const nd::Array a = arrays[r];
      ranks_[r].reduce(a, a, 0);
    }
    group.end();
  }
  void broadcast(std::span<const Array> arrays) override {
    check_count("broadcast", arrays);
    NcclGroup group;
    for (std::size_t r = 0; r < ranks_.size(); ++r) ranks_[r].broadcast(arrays[r], 0);
    group.end();
  }

 private:
  static std::vector<int> ids_of(std::span<const Device> devices) {
    std::vector<int> ids;
    for (const Device& d : devices) {
      catena::check<catena::ValueError>(d.kind == Device::Kind::cuda, "connect", d, " is no GPU; NCCL connects GPUs");
      ids.push_back(d.id);
    }
    return ids;
  }
  void check_count(const char* op, std::span<const Array> arrays) const {
    catena::check<catena::ValueError>(arrays.size() == ranks_.size(), op, "there are ", arrays.size(), " arrays for ",
                                      ranks_.size(), " devices");
    for (const Array& a : arrays)  // NCCL would wait forever for missing elements
      catena::check<catena::ValueError>(a.shape() == arrays[0].shape() && a.dtype() == arrays[0].dtype(), op,
                                        "an array of ", a.dtype(), " and shape ", a.shape(), " beside one of ",
                                        arrays[0].dtype(), " and shape ", arrays[0].shape());
  }

  std::vector<NcclCommunicator> ranks_;
};

class NcclRank final : public CommExtension::Rank {
 public:
  // The current device of the thread is that of the rank only while its communicator is made.
  NcclRank(const nd::cuda::NcclUniqueId& id, int size, int rank, Device device,
           const catena::Function<void()>& while_waiting)
      : comm_([&] {
          const nd::DeviceScope scope(device);
          return NcclCommunicator(size, id, rank, {.nonblocking = true, .while_waiting = [&] { while_waiting(); }});
        }()) {}

  bool takes(Dtype dtype) const override {
    return catena::is_floating(dtype) || (catena::is_integer(dtype) && catena::itemsize(dtype) != 2);
  }
  void all_reduce(const Array& a) override {
    comm_.check_async_error();
    const nd::Array own = a;
    comm_.all_reduce(own, own);
  }
  void wait(const catena::Function<void()>& while_waiting) override {
    comm_.wait([&] { while_waiting(); });
  }

 private:
  NcclCommunicator comm_;
};

class NcclExtension final : public CommExtension {
 public:
  std::string why_unavailable() const override {
    try {
      nd::cuda::nccl();
      return {};
    } catch (const catena::RuntimeError& e) {
      return e.what();
    }
  }
  catena::Owned<Group> connect(std::span<const Device> devices) override {
    catena::reserve_standard_descriptors();  // so that NCCL's sockets do not get numbers 0 to 2
    return catena::Owned<Group>(new NcclRanks(devices));
  }
  std::string new_group_id() override {
    catena::reserve_standard_descriptors();
    const nd::cuda::NcclUniqueId id = nd::cuda::nccl_unique_id();
    return {reinterpret_cast<const char*>(&id), sizeof id};
  }
  catena::Owned<Rank> join(const std::string& group_id, int size, int rank, Device device,
                           const catena::Function<void()>& while_waiting) override {
    catena::reserve_standard_descriptors();
    nd::cuda::NcclUniqueId id;
    catena::check<catena::ValueError>(group_id.size() == sizeof id, "join", "the name of the group has ",
                                      group_id.size(), " bytes, not ", sizeof id);
    std::memcpy(&id, group_id.data(), sizeof id);
    return catena::Owned<Rank>(new NcclRank(id, size, rank, device, while_waiting));
  }
};

}  // namespace

CommExtension& nccl_comm_extension() {
  static NcclExtension extension;
  return extension;
}

}  // namespace autograd::internal
