// A network of Caffe that tells red, green and blue images apart, and such images: input for evaluate_caffe_net where
// there is no other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <catena/catena.h>

// A message in the encoding of protocol buffers, with the fields of caffe.proto.
class CaffeMessage {
 public:
  CaffeMessage& number(int field, std::uint64_t value) { return varint(std::uint64_t(field) << 3).varint(value); }
  CaffeMessage& text(int field, std::string_view value) {
    varint(std::uint64_t(field) << 3 | 2).varint(value.size());
    bytes_ += value;
    return *this;
  }
  CaffeMessage& message(int field, const CaffeMessage& value) { return text(field, value.bytes_); }
  CaffeMessage& blob(int field, const std::vector<int>& shape, const std::vector<float>& values) {
    CaffeMessage dims, blob;
    for (const int n : shape) dims.number(1, std::uint64_t(n));
    blob.message(7, dims).text(5, {reinterpret_cast<const char*>(values.data()), 4 * values.size()});
    return message(field, blob);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  CaffeMessage& varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += char(value | 128);
    bytes_ += char(value);
    return *this;
  }
  std::string bytes_;
};

inline CaffeMessage caffe_layer(std::string_view type, std::string_view name, std::string_view bottom) {
  CaffeMessage layer;
  return layer.text(1, name).text(2, type).text(3, bottom).text(4, name);
}

// Writes a list of six images, the images, their mean and a network with the blob `output`.
inline void write_synthetic_files(const std::string& list, const std::string& basepath, const std::string& mean,
                                  const std::string& model, const std::string& output, int in_size) {
  std::ofstream lines(list);
  for (int i = 0; i < 6; ++i) {
    const std::string name = "image" + std::to_string(i) + ".png";
    nd::Array image = nd::zeros({3, 256, 256}, nd::float32);
    image[i % 3] = nd::arange(256, nd::float32) / 2 + 100;
    training::datasets::write_image((std::filesystem::path(basepath) / name).string(), image);
    lines << name << ' ' << i % 3 << '\n';
  }
  nd::save(mean, nd::full({3, 256, 256}, 55, nd::float32));

  // The mean of a colour over all pixels is the score of its class. The network's colours are blue, green, red.
  CaffeMessage window, units, net;
  window.number(1, 1).number(2, std::uint64_t(in_size));
  units.number(1, 3);
  CaffeMessage pool = caffe_layer("Pooling", "pool", "data"), scores = caffe_layer("InnerProduct", output, "pool");
  pool.message(121, window);
  scores.blob(7, {3, 3}, {0, 0, 0.01f, 0, 0.01f, 0, 0.01f, 0, 0}).blob(7, {3}, {0, 0, 0}).message(117, units);
  net.message(100, pool).message(100, scores);
  std::ofstream(model, std::ios::binary) << net.bytes();
}
