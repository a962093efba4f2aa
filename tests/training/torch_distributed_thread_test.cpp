// training::distributed on three ranks, which are threads, and on one.
#include <catena/training/communicators/torch_distributed.h>

#include <catena/tests/support/rank_threads.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
namespace dist = training::distributed;
using Numbers = std::vector<double>;

namespace {

Variable two(double first, double second) { return Variable(autograd::array(Numbers{first, second}, {2})); }
Numbers numbers(const Variable& v) { return autograd::to_vector<double>(v.data()); }

Numbers reduced(const Comm& comm, dist::ReduceOp op) {
  const Variable v = two(comm->rank() + 1, -comm->rank());
  dist::all_reduce(v, op);
  return numbers(v);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_distributed)

BOOST_AUTO_TEST_CASE(three_ranks) {
  const auto results = by_rank(3, [](const Comm& comm) {
    dist::init_process_group(comm);
    std::vector<Numbers> all;
    all.push_back({double(dist::get_rank()), double(dist::get_world_size())});
    for (const auto op :
         {dist::ReduceOp::SUM, dist::ReduceOp::AVG, dist::ReduceOp::PRODUCT, dist::ReduceOp::MIN, dist::ReduceOp::MAX})
      all.push_back(reduced(comm, op));
    const Variable mine = two(dist::get_rank(), 7), to_one = two(1, 2), from_two = two(dist::get_rank(), 0);
    dist::reduce(to_one, 1);
    all.push_back(numbers(to_one));
    dist::broadcast(from_two, {.src = 2});
    all.push_back(numbers(from_two));
    const std::vector<Variable> list{two(0, 0), two(0, 0), two(0, 0)};
    dist::all_gather(list, mine);
    for (const Variable& v : list) all.push_back(numbers(v));
    if (dist::get_rank() == 0) dist::send(two(5, 6), 2);
    const Variable received = two(0, 0);
    if (dist::get_rank() == 2) dist::recv(received, 0);
    all.push_back(numbers(received));
    dist::barrier();
    dist::destroy_process_group();
    return all;
  });
  for (int rank = 0; rank < 3; ++rank) {
    const std::vector<Numbers> expected{{double(rank), 3},
                                        {6, -3},
                                        {2, -1},
                                        {6, 0},
                                        {1, -2},
                                        {3, 0},
                                        rank == 1 ? Numbers{3, 6} : Numbers{1, 2},
                                        {2, 0},
                                        {0, 7},
                                        {1, 7},
                                        {2, 7},
                                        rank == 2 ? Numbers{5, 6} : Numbers{0, 0}};
    BOOST_REQUIRE(results[std::size_t(rank)].size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      BOOST_TEST(results[std::size_t(rank)][i] == expected[i], boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(one_rank) {
  BOOST_TEST(!dist::is_initialized());
  BOOST_CHECK_THROW(dist::get_rank(), catena::RuntimeError);
  BOOST_CHECK_THROW(dist::destroy_process_group(), catena::RuntimeError);
  BOOST_CHECK_THROW(dist::init_process_group("gloo", {.rank = 1, .world_size = 2}), catena::ValueError);
  dist::init_process_group({.backend = "gloo", .rank = 0, .world_size = 1});
  BOOST_TEST(dist::is_initialized());
  BOOST_TEST(dist::get_backend() == "naive");
  BOOST_CHECK_THROW(dist::init_process_group(), catena::RuntimeError);
  const Variable v = two(1, 2);
  dist::all_reduce(v, {.op = dist::ReduceOp::AVG});
  BOOST_TEST(numbers(v) == (Numbers{1, 2}), boost::test_tools::per_element());
  BOOST_CHECK_THROW(dist::all_gather({v, v}, v), catena::ValueError);
  const Variable longer(floats({0, 0, 0}, {3})), narrow(floats({0, 0}, {2}));  // v has float64
  BOOST_TEST(has(message_of<catena::ValueError>([&] { dist::all_gather({longer}, v); }), "(2,), and the tensor is"));
  BOOST_CHECK_THROW(dist::all_gather({narrow}, v), catena::ValueError);
  dist::destroy_process_group();
  BOOST_TEST(!dist::is_initialized());
}

BOOST_AUTO_TEST_SUITE_END()
