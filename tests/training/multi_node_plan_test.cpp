// Buckets: which gradients travel together, the text of a plan, and who updates what.
#include <catena/training/multi_node/bucket_plan.h>

#include <catena/tests/support/training_fixtures.h>

using namespace test;
using training::internal::BucketPlan;

namespace {

nn::NamedParam param(const char* path, std::int64_t size, Dtype dtype = Dtype::float32) {
  return {path, Variable(autograd::arrays::zeros({size}, dtype))};
}

// "a b | c": the members of the buckets.
std::string members(const BucketPlan& plan) {
  std::string text;
  for (const BucketPlan::Bucket& bucket : plan.buckets) {
    if (!text.empty()) text += " |";
    for (const BucketPlan::Member& m : bucket.members) text += (text.empty() ? "" : " ") + m.path.substr(1);
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_node_plan)

BOOST_AUTO_TEST_CASE(sizes_of_buckets) {
  const std::vector<nn::NamedParam> params = {param("/a", 2), param("/b", 3), param("/c", 10), param("/d", 1),
                                              param("/e", 0)};
  const std::pair<std::size_t, const char*> expected[] = {{1, "a | b | c | d | e"}, {9, "a b | c | d e"},
                                                          {20, "a b | c | d e"},    {60, "a b c | d e"},
                                                          {61, "a b c d | e"},      {1000, "a b c d e"}};
  for (const auto& [bytes, text] : expected) BOOST_TEST(members(BucketPlan::of(params, bytes)) == text);
  BOOST_TEST(BucketPlan::of({}, 1).buckets.empty());
}

// Buckets are in the order of their last members.
BOOST_AUTO_TEST_CASE(one_dtype_in_a_bucket) {
  const std::vector<nn::NamedParam> params = {param("/a", 4, Dtype::float16), param("/b", 4), param("/c", 4),
                                              param("/d", 4, Dtype::float16)};
  const BucketPlan plan = BucketPlan::of(params, 17);
  BOOST_TEST(members(plan) == "b c | a d");
  BOOST_TEST((plan.buckets[0].dtype == Dtype::float32 && plan.buckets[1].dtype == Dtype::float16));
}

BOOST_AUTO_TEST_CASE(text_of_a_plan) {
  const std::vector<nn::NamedParam> params = {param("/a", 2), param("/b", 3), param("/c", 10)};
  const std::vector<nn::NamedParam> here = {param("/c", 10), param("/a", 2), param("/b", 3)};
  const BucketPlan plan = BucketPlan::parse(BucketPlan::of(params, 20).text(), here);
  BOOST_TEST(members(plan) == "a b | c");
  BOOST_TEST(plan.buckets[1].members[0].param.is_same(here[0].param));
  BOOST_TEST(BucketPlan::parse("", {}).buckets.empty());

  const std::string missing = message_of<catena::ValueError>([&] { BucketPlan::parse("/a\n/b\n\n/d\n\n", here); });
  BOOST_TEST(has(missing, "/d, which rank 0 trains"), missing);
  const std::string extra = message_of<catena::ValueError>([&] { BucketPlan::parse("/a\n/b\n\n", here); });
  BOOST_TEST(has(extra, "/c, which this rank trains"), extra);
}

BOOST_AUTO_TEST_CASE(owners_have_equal_shares) {
  BucketPlan plan = BucketPlan::of({param("/a", 8), param("/b", 3), param("/c", 4), param("/d", 2), param("/e", 9)}, 1);
  plan.assign_owners(3);
  std::vector<int> owners;
  for (const BucketPlan::Bucket& bucket : plan.buckets)
    for (const BucketPlan::Member& m : bucket.members) owners.push_back(m.owner);
  BOOST_TEST(owners == (std::vector<int>{0, 1, 2, 1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
