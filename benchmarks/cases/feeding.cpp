// Training on images that are read from PNG files during the preceding step, and the same steps on images in memory;
// batches of augmented images alone.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <catena/benchmarks/cases.h>
#include <catena/benchmarks/files.h>
#include <catena/benchmarks/networks.h>

namespace bench {
namespace {

using training::Example;

Example scaled(Example e) {
  e.values[0] = e.values[0] * (1 / 255.0);
  return e;
}

// Image files with their labels, read and scaled example by example.
struct ImageFiles {
  TemporaryFolder folder;
  training::TransformDataset dataset;
  explicit ImageFiles(const Parameters& p)
      : dataset(training::LabeledImageDataset(write_images(folder, p.at("images"), p.at("size"), 7010), folder.path()),
                scaled) {}
};

// Repeats some batches, in an order drawn for every sweep, or in the order of the files.
struct FromFiles {
  ImageFiles files;
  int threads;
  explicit FromFiles(const Parameters& p) : files(p), threads(int(p.at("workers"))) {}
  training::MultithreadIterator batches(std::int64_t n, bool shuffle) {
    return {files.dataset, n, {.shuffle = shuffle, .n_threads = threads, .n_prefetch = 2}};
  }
};
struct FromMemory {
  training::TupleDataset dataset;
  explicit FromMemory(const Parameters& p) : dataset(loaded(p)) {}
  training::SerialIterator batches(std::int64_t n, bool shuffle) { return {dataset, n, {.shuffle = shuffle}}; }

 private:
  static training::TupleDataset loaded(const Parameters& p) {
    const ImageFiles files(p);
    training::Examples all;
    for (std::int64_t i = 0; i < files.dataset.size(); ++i) all.push_back(files.dataset[i]);
    return training::TupleDataset(training::concat_examples(all).values);
  }
};

template <class Source> struct Fed {
  using Iterator = decltype(std::declval<Source>().batches(1, true));
  Source source;
  nn::Classifier<CNN> model;
  training::Adam adam;
  std::int64_t batch;
  autograd::Device device = nd::current_device();
  Iterator shuffled;

  explicit Fed(const Parameters& p)
      : source(p),
        model(CNN(p), {.compute_accuracy = false}),
        batch(p.at("batch")),
        shuffled(source.batches(batch, true)) {
    adam.setup(model);
  }
  void step(training::Iterator& iterator) {
    const training::Variables xt = training::to_variables(training::default_converter(*iterator.next(), device));
    adam.update([&] { return model(xt); });
  }
};

// A call is several steps, so that few of its batches were loaded while other contenders ran. The compared result is
// the loss of the second step, in the order of the files.
template <class Source> Ready fed(const Parameters& p) {
  auto f = std::make_shared<Fed<Source>>(p);
  const std::int64_t steps = p.at("steps");
  return {repeated([f, steps] {
            for (std::int64_t k = 0; k < steps; ++k) f->step(f->shuffled);
          }),
          [f] {
            auto in_order = f->source.batches(f->batch, false);
            f->step(in_order);
            f->step(in_order);
            return nd::Array(f->model.loss.data());
          }};
}

Parameters sizes(Draw& draw) {
  const std::int64_t batch = draw.at_most(draw.one_of({1, 8, 32, 100, 256}));
  return {{"batch", batch}, {"size", draw.one_of({28, 32, 48, 64})},
          {"channels", 3},  {"images", std::clamp<std::int64_t>(8 * batch, 64, 512)},
          {"workers", 1},   {"steps", 20}};
}

const Parameters full{{"batch", 64}, {"size", 32}, {"channels", 3}, {"images", 512}, {"workers", 1}, {"steps", 20}},
    tiny{{"batch", 2}, {"size", 16}, {"images", 5}, {"steps", 2}};

// ---- batches alone ------------------------------------------------------------------------------
// The usual augmentation of small images: cut out of a frame of zeros, mirrored half of the times, normalized. At
// random for the times, by the index for the comparison.
struct Augment {
  static constexpr std::int64_t kFrame = 4;
  bool is_random;
  nd::Array mean = nd::array({0.49f, 0.48f, 0.45f}).reshape({3, 1, 1});
  nd::Array deviation = nd::array({0.25f, 0.24f, 0.26f}).reshape({3, 1, 1});

  Example operator()(Example e) const {
    const nd::Array image = e.values[0];
    const std::int64_t size = image.shape(1), places = 2 * kFrame + 1;
    std::int64_t y = 0, x = 0, mirrored = 0;
    if (is_random) {
      const auto drawn = nd::random::randint(0, 2 * places, {3}).to_vector<std::int64_t>();
      y = drawn[0] % places, x = drawn[1] % places, mirrored = drawn[2] % 2;
    } else {
      const std::int64_t i = training::example_key()->index;
      y = i % places, x = (i / places) % places, mirrored = i % 2;
    }
    const nd::Array framed = nd::zeros({image.shape(0), size + 2 * kFrame, size + 2 * kFrame}, nd::float32);
    framed(nd::_, nd::Slice(kFrame, kFrame + size), nd::Slice(kFrame, kFrame + size)) = image;
    nd::Array cut = framed(nd::_, nd::Slice(y, y + size), nd::Slice(x, x + size));
    if (mirrored != 0) cut = cut(nd::_, nd::_, nd::Slice({}, {}, -1));
    e.values[0] = (cut - mean) / deviation;
    return e;
  }
};

// A call makes the arrays of several batches. The compared result are the images of the first batch in order.
Ready augmented(const Parameters& p) {
  const std::int64_t n = p.at("images"), size = p.at("size"), batch = p.at("batch"), steps = p.at("steps");
  const auto images = catena::Shared<training::TupleDataset>::make(std::initializer_list<autograd::Array>{
      autograd::Array(uniform({n, 3, size, size}, 0)), autograd::Array(labels(n, 1, 10))});
  const auto at_random = std::make_shared<training::TransformDataset>(images, Augment{true});
  const auto in_order = std::make_shared<training::TransformDataset>(images, Augment{false});
  const auto batches = std::make_shared<training::MultithreadIterator>(
      at_random, batch, training::MultithreadIterator::Options{.n_threads = int(p.at("workers")), .n_prefetch = 2});
  return {repeated([batches, steps] {
            for (std::int64_t k = 0; k < steps; ++k) training::default_converter(*batches->next(), {});
          }),
          [in_order, batch] {
            training::SerialIterator iterator(in_order, batch, {.shuffle = false});
            return nd::Array(training::default_converter(*iterator.next(), {}).values[0]);
          }};
}

const Cases of_memory{{"training/augmented_batches",
                       {{"batch", 64}, {"size", 32}, {"images", 2048}, {"workers", 1}, {"steps", 20}},
                       {{"batch", 3}, {"size", 8}, {"images", 7}, {"steps", 2}},
                       augmented}};

// Returns no cases in a build that cannot read the files.
Cases cases_of_png() {
  if (!training::datasets::image_codecs().png) return {};
  return {{"training/png_feed", full, tiny, fed<FromFiles>, sizes},
          {"training/memory_feed", full, tiny, fed<FromMemory>, sizes}};
}
const Cases cases = cases_of_png();

}  // namespace
}  // namespace bench
