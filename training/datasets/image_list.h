// Lists of images in text files, and labels as arrays. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catena/training/dataset.h>

namespace training::datasets::internal {

// Returns the lines of a file, without surrounding white space. The ValueError for an empty line names it.
std::vector<std::string> read_paths(const char* op, const std::string& list_file);
// Returns the paths and labels of a file whose lines have these two columns. The ValueError for another line names it.
std::vector<std::pair<std::string, std::int64_t>> read_pairs(const char* op, const std::string& list_file);

// Returns the example (image, label as a 0-d array).
Example labeled(Array image, std::int64_t label, autograd::Dtype label_dtype);

}  // namespace training::datasets::internal
