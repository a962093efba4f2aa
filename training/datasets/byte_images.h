// Labelled images as stored in data sets: bytes, all images of one size. Internal to this folder.
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

// Returns examples (image, label), or only images if there is no dtype of labels. A pixel p becomes p * scale / 255 in
// `dtype`; an image has the shape `shape`.
DatasetPtr make_dataset(const ByteImages& images, const autograd::Shape& shape, double scale, autograd::Dtype dtype,
                        std::optional<autograd::Dtype> label_dtype);

// Read or write pairs of members <prefix>x (N, pixels) and <prefix>y (N) of an npz file, both of bytes. read_images
// throws a ValueError that names the file and both shapes if they differ from these, or if N = 0. write_images
// compresses.
std::vector<ByteImages> read_images(std::string_view op, const std::string& path,
                                    const std::vector<std::string>& prefixes, std::int64_t pixels);
void write_images(std::string_view op, const std::string& path, const std::vector<std::string>& prefixes,
                  const std::vector<ByteImages>& images, std::int64_t pixels);

// The images of CIFAR with this number of classes, 10 or 100, from files in a folder: unpacked, or in the archive.
// IOError if there are none. `who`: for the messages.
ByteImages read_cifar(const char* who, int classes, const std::string& root, bool train);

}  // namespace training::datasets::internal
