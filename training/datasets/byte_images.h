// Labelled images as data sets store them: bytes, all of one size. Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/training/dataset.h>

namespace training::datasets::internal {

struct ByteImages {
  std::vector<std::uint8_t> pixels, labels;  // (N, pixels of an image), (N)
};

// Examples (image, label), or images alone without a dtype of labels. A pixel p becomes p * scale / 255 of `dtype`; an
// image has the shape `shape`.
DatasetPtr make_dataset(const ByteImages& images, const autograd::Shape& shape, double scale, autograd::Dtype dtype,
                        std::optional<autograd::Dtype> label_dtype);

// Pairs of members <prefix>x (N, pixels) and <prefix>y (N) of an npz file, both of bytes. read_images: ValueError
// naming the file and both shapes for others, and for N = 0. write_images compresses.
std::vector<ByteImages> read_images(std::string_view op, const std::string& path,
                                    const std::vector<std::string>& prefixes, std::int64_t pixels);
void write_images(std::string_view op, const std::string& path, const std::vector<std::string>& prefixes,
                  const std::vector<ByteImages>& images, std::int64_t pixels);

}  // namespace training::datasets::internal
