// Which gradients travel together, and in which order. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catena/nn/link.h>

namespace training::internal {

inline constexpr const char* kMultiNode = "multi-node optimizer";  // in error messages

// The plan is that of rank 0: text() is broadcast, and parsed by the others.
struct CATENA_EXPORT BucketPlan {
  struct Member {
    std::string path;
    autograd::Variable param;
    autograd::Shape shape;  // of the parameter when the plan was made, as on all ranks
    int owner = 0;          // the rank that updates it, with sharded states
    std::int64_t size() const { return catena::size_of(shape); }
  };
  // Parameters of one dtype.
  struct Bucket {
    autograd::Dtype dtype;
    std::vector<Member> members = {};
  };
  std::vector<Bucket> buckets;

  // Takes the parameters in their order. A bucket is closed by the member with which it has `bucket_bytes`.
  static BucketPlan of(const std::vector<nn::NamedParam>& params, std::size_t bucket_bytes);
  std::string text() const;
  // Finds the parameters by their paths. ValueError if `params`, which are those of this rank, are not exactly those of
  // the text.
  static BucketPlan parse(std::string_view text, const std::vector<nn::NamedParam>& params);
  // Distributes the parameters over the ranks: each, in the order of the plan, to the rank with the fewest elements so
  // far.
  void assign_owners(int ranks);
};

}  // namespace training::internal
