// Weight spaces of recurrent networks that several threads ask for at the same time (cudnn_weights.h).
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

#include <catena/autograd/ndarray_backend/cudnn/weights.h>
#include <catena/catena.h>

namespace {

using autograd::Array;

struct Cell {
  std::vector<Array> ws{autograd::arrays::ones({2, 3}), autograd::arrays::ones({2, 2})},
      bs{autograd::arrays::zeros({2}), autograd::arrays::zeros({2})};
  std::vector<double> space(std::atomic<int>& copies) const {
    const std::int64_t layout[] = {7};
    return autograd::to_vector<double>(array(layout, copies));
  }
  Array array(std::span<const std::int64_t> layout, std::atomic<int>& copies) const {
    return autograd::internal::cudnn::packed_weights(layout, ws, bs, [&] {
      ++copies;
      const Array parts[] = {autograd::reshape(ws[0], {6}), autograd::reshape(ws[1], {4}), bs[0], bs[1]};
      return autograd::concatenate(parts, 0);
    });
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(cudnn_weights_thread)

// Weights that all threads read and that are written between the rounds, beside weights of each thread that come and
// go.
BOOST_AUTO_TEST_CASE(threads_find_the_present_weights) {
  constexpr int kThreads = 8, kRounds = 100;
  const Cell shared;
  std::atomic<int> copies{0}, own_copies{0}, wrong{0};
  std::barrier written(kThreads), read(kThreads);
  std::vector<std::thread> threads;
  for (int id = 0; id < kThreads; ++id)
    threads.emplace_back([&, id] {
      for (int round = 0; round < kRounds; ++round) {
        if (id == 0) shared.ws[0] += 1;
        written.arrive_and_wait();
        for (int call = 0; call < 3; ++call) {
          const std::vector<double> v = shared.space(copies);
          wrong += v[0] != round + 2 || v[6] != 1 || v.size() != 14;
        }
        const Cell own;
        autograd::fill(own.bs[1], id * kRounds + round);
        wrong += own.space(own_copies).back() != id * kRounds + round;
        wrong += own.space(own_copies).back() != id * kRounds + round;
        if (round % 10 == id) nd::memory_pool().free_all_blocks();
        read.arrive_and_wait();
      }
    });
  for (std::thread& t : threads) t.join();
  BOOST_TEST(wrong == 0);
  BOOST_TEST(copies >= kRounds);
  BOOST_TEST(own_copies >= kRounds * kThreads);
  BOOST_TEST(autograd::internal::cudnn::kept_weight_spaces() <= 1u);  // that of the shared weights
}

BOOST_AUTO_TEST_SUITE_END()
