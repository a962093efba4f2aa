// The gradients of one update on their way: packed into buckets, summed over the ranks, unpacked. Internal to this
// folder.
//
// Behind its gradients a bucket has numbers whose sums are the findings of all ranks: for each parameter whether a rank
// has no gradient and whether it has one, whether a rank has failed, and whether one has other parameters than planned.
// All are 0 or 1, so that a sum is 0 exactly if all are, in every dtype.
#pragma once

#include <cstdint>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/stream_extension.h>
#include <catena/training/communicators/communicator.h>
#include <catena/training/multi_node/bucket_plan.h>

namespace training::internal {

struct Round {
  struct Bucket {
    // Before: what this rank sends; one array, or with sharded gradients one for each rank that owns some. After: the
    // means, of all parameters of the bucket or of those that this rank owns.
    std::vector<Array> sent = {};
    Array mean = {};
    std::vector<double> own = {};    // the numbers that this rank sends
    Array numbers = {};              // the means of the numbers of all ranks, on the device
    std::vector<double> notes = {};  // `numbers` on the host
    catena::Owned<autograd::StreamExtension::Point> point = {};
    std::uint64_t task = 0;
  };
  std::vector<Bucket> buckets = {};
  bool is_sharded = false;
  Array numbers = {};  // of a captured round: the numbers of all buckets, in float64

  // The numbers of a bucket of n members.
  static std::size_t missing(std::size_t member) { return member; }
  static std::size_t present(std::size_t n, std::size_t member) { return n + member; }
  static std::size_t failed(std::size_t n) { return 2 * n; }
  static std::size_t changed(std::size_t n) { return 2 * n + 1; }

  struct Notes {
    bool failed = false, changed = false;
  };
  // Of a round that has ended: whether a rank has failed, and whether one has other parameters than planned.
  Notes found() const {
    Notes all;
    for (const Bucket& b : buckets) {
      all.failed = all.failed || b.notes[b.notes.size() - 2] != 0;
      all.changed = all.changed || b.notes[b.notes.size() - 1] != 0;
    }
    return all;
  }
  // In the thread of the optimizer: copies the gradients of the members to the device. With a failure or other
  // parameters than planned, zeros. ValueError for a gradient that is not as the parameter when the plan was made.
  void pack(std::size_t bucket, const BucketPlan::Bucket& plan, int ranks, autograd::Device device, const Notes& notes);
  // In the communication thread. `members`: their number.
  void communicate(std::size_t bucket, autograd::Dtype dtype, std::size_t members, const Communicator& comm);
  // In the thread of the optimizer: the means of the members. Null for members of other ranks, and for those that have
  // no gradient on any rank.
  std::vector<Array> means(std::size_t bucket, const BucketPlan::Bucket& plan, int rank) const;
  // Gives the members their means.
  void unpack(std::size_t bucket, const BucketPlan::Bucket& plan, int rank) const;

  // The parts of pack() and communicate(), for captured work, in which nothing comes from the host or goes to it.
  // Returns the numbers of this rank; `has_gradient`: of each member.
  static std::vector<double> own_numbers(const std::vector<bool>& has_gradient, const Notes& notes);
  void pack(std::size_t bucket, const BucketPlan::Bucket& plan, int ranks, bool is_zero, const Array& numbers);
  void to_wire(std::size_t bucket, autograd::Dtype dtype, const Communicator& comm);  // casts and divides `sent`
  void from_sum(std::size_t bucket, const Array& sum, autograd::Dtype dtype, std::size_t members,
                const Communicator& comm);
  void from_mean(std::size_t bucket, const Array& wire, autograd::Dtype dtype, std::size_t members);
  void read_notes(std::size_t bucket);  // waits for the device
  void join_numbers();                  // makes `numbers`
  void read_all_notes();                // from `numbers`, by one copy; waits for the device
};

// The dtype in which gradients of a dtype are summed.
autograd::Dtype wire_dtype(const Communicator& comm, autograd::Dtype dtype);
// The work on the array so far, for another thread or stream to wait for; null where there are no streams.
catena::Owned<autograd::StreamExtension::Point> point_of(const Array& a);
// Gives a parameter its mean, or no gradient if that is null or of another dtype or shape.
void set_mean(autograd::Variable param, const Array& mean);

}  // namespace training::internal
