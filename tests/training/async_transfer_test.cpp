// ConcatWithAsyncTransfer: batches of concat_examples on a device, as a converter of updaters.
#include <catena/training/parallel/async_transfer.h>

#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/replicas.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/parallel/parallel_updater.h>

using namespace test;
using namespace training;

namespace {

Example example(double first, std::int64_t length, Device device) {
  return Example({autograd::arrays::full({length}, first, Dtype::float32, device),
                  autograd::arrays::full({}, first, Dtype::int32, device)});
}
Batch batch_of(Device device, std::int64_t n = 3, std::int64_t length = 2) {
  Batch batch;
  for (std::int64_t i = 0; i < n; ++i) batch.examples.push_back(example(double(i), length, device));
  return batch;
}

template <class Convert> std::vector<std::string> trained(const Convert& converter, Device device) {
  autograd::seed(3);
  nn::Classifier<nn::Linear> classifier(nn::Linear(4, 3));
  SGD sgd(0.1);
  sgd.setup(classifier);
  StandardUpdater updater(SerialIterator(host_examples(20, false), 6, {.seed = 2}), sgd,
                          {.converter = converter, .device = device});
  for (int k = 0; k < 7; ++k) updater.update();  // batches of two epochs
  return params_of(classifier);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(async_transfer)

BOOST_AUTO_TEST_CASE(batches_of_concat_examples) {
  std::vector<Device> devices{default_device()};
  if (const std::optional<Device> other = other_device()) devices.push_back(*other);
  const ConcatWithAsyncTransfer converter;
  for (const Device to : devices)
    for (const Device from : {kCpu, to})
      for (const std::int64_t n : {1, 3}) {  // the buffers of one batch do not serve the next one
        const Example made = converter(batch_of(from, n), to), again = converter(batch_of(from, n + 1, 5), to);
        const Example expected = concat_examples(batch_of(from, n).examples, to);
        BOOST_REQUIRE(made.values.size() == 2u);
        for (std::size_t i = 0; i < 2; ++i) {
          BOOST_TEST((made.values[i].device() == to));
          BOOST_TEST(same_bits(made.values[i], expected.values[i]));
        }
        BOOST_TEST((again.values[0].shape() == Shape{n + 1, 5}));
        BOOST_TEST(values(again.values[0])[std::size_t(n) * 5] == double(n));
      }
  // Without a device, the arrays stay where they are; what a data set has stacked is only moved.
  BOOST_TEST((converter(batch_of(kCpu)).values[0].device() == kCpu));
  Batch stacked;
  stacked.stacked = example(4, 3, kCpu);
  const Example moved = converter(stacked, default_device());
  BOOST_TEST((moved.values[0].device() == default_device()));
  BOOST_TEST(values(moved.values[0]) == (std::vector<double>{4, 4, 4}), each);
}

BOOST_AUTO_TEST_CASE(padding_and_errors) {
  Batch uneven;
  uneven.examples = {example(1, 2, kCpu), example(2, 3, kCpu)};
  const ConcatWithAsyncTransfer padded({.padding = -1});
  BOOST_TEST(values(padded(uneven, default_device()).values[0]) == (std::vector<double>{1, 1, -1, 2, 2, 2}), each);
  const ConcatWithAsyncTransfer plain;
  BOOST_CHECK_THROW(plain(uneven, default_device()), catena::ValueError);
  BOOST_CHECK_THROW(plain(Batch(), default_device()), catena::ValueError);
  // An error leaves the converter as it was.
  BOOST_TEST(values(plain(batch_of(kCpu), default_device()).values[1]) == (std::vector<double>{0, 1, 2}), each);
}

BOOST_AUTO_TEST_CASE(in_updaters) {
  const Device device = default_device();
  BOOST_TEST(trained(ConcatWithAsyncTransfer(), device) == trained(default_converter, device), each);
  const auto in_parallel = [&](const Converter& converter) {
    autograd::seed(1);
    nn::Classifier<nn::Linear> classifier(nn::Linear(4, 3));
    SGD sgd(0.1);
    sgd.setup(classifier);
    ParallelUpdater updater(SerialIterator(host_examples(20, false), 7, {.seed = 2}), sgd, classifier,
                            {.converter = converter, .devices = {{"main", device}, {"second", device}}});
    for (int k = 0; k < 5; ++k) updater.update();
    updater.finalize();
    return params_of(classifier);
  };
  BOOST_TEST(in_parallel(ConcatWithAsyncTransfer()) == in_parallel(default_converter), each);
}

BOOST_AUTO_TEST_SUITE_END()
