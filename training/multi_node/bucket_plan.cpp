#include <catena/training/multi_node/bucket_plan.h>

#include <algorithm>
#include <map>

#include <catena/kernels/base/error.h>

namespace training::internal {

using catena::check;
using catena::ValueError;

BucketPlan BucketPlan::of(const std::vector<nn::NamedParam>& params, std::size_t bucket_bytes) {
  BucketPlan plan;
  std::map<autograd::Dtype, std::pair<Bucket, std::size_t>> open;  // and their bytes
  for (const nn::NamedParam& p : params) {
    const autograd::Dtype dtype = p.param.dtype();
    auto& [bucket, bytes] = open[dtype];
    bucket.dtype = dtype;
    bucket.members.push_back({p.path, p.param, p.param.shape()});
    bytes += std::size_t(p.param.size()) * catena::itemsize(dtype);
    if (bytes < bucket_bytes) continue;
    plan.buckets.push_back(std::move(bucket));
    open.erase(dtype);
  }
  for (auto& [dtype, entry] : open) plan.buckets.push_back(std::move(entry.first));
  return plan;
}

// Lines of paths; an empty line ends a bucket.
std::string BucketPlan::text() const {
  std::string text;
  for (const Bucket& bucket : buckets) {
    for (const Member& m : bucket.members) text += m.path + "\n";
    text += "\n";
  }
  return text;
}

BucketPlan BucketPlan::parse(std::string_view text, const std::vector<nn::NamedParam>& params) {
  std::map<std::string_view, const nn::NamedParam*> left;
  for (const nn::NamedParam& p : params) left[p.path] = &p;
  BucketPlan plan;
  bool is_open = false;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view path = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (path.empty()) {
      is_open = false;
      continue;
    }
    const auto at = left.find(path);
    check<ValueError>(at != left.end(), kMultiNode, "the parameter ", path,
                      ", which rank 0 trains, has no shape or is frozen on this rank");
    if (!is_open) plan.buckets.push_back({at->second->param.dtype()});
    is_open = true;
    plan.buckets.back().members.push_back({std::string(path), at->second->param, at->second->param.shape()});
    left.erase(at);
  }
  check<ValueError>(left.empty(), kMultiNode, "the parameter ", left.empty() ? std::string_view() : left.begin()->first,
                    ", which this rank trains, has no shape or is frozen on rank 0");
  return plan;
}

void BucketPlan::assign_owners(int ranks) {
  std::vector<std::int64_t> elements(static_cast<std::size_t>(ranks), 0);
  for (Bucket& bucket : buckets)
    for (Member& m : bucket.members) {
      const auto least = std::min_element(elements.begin(), elements.end());
      m.owner = static_cast<int>(least - elements.begin());
      *least += m.size();
    }
}

}  // namespace training::internal
