// The two text formats inside npy data: the Python dictionary of the header, and UTF-32 strings. Internal to npy.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/shape.h>

namespace catena {

struct NpyDictionary {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

// Parses {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }: exactly these three keys, as NumPy requires, in
// any order and spacing, padded with white space. Otherwise ValueError starting with `context`.
NpyDictionary parse_npy_dictionary(const std::string& context, std::string_view text);

// Conversion between UTF-8 and code points; ValueError for invalid Unicode.
std::string utf8_of(std::span<const char32_t> points);
std::vector<char32_t> code_points_of(std::string_view utf8);

}  // namespace catena
