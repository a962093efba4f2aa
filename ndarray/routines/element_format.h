// Formats of single numbers, for files of text.
#pragma once

#include <string>
#include <string_view>

#include <catena/kernels/base/scalar.h>

namespace nd::internal {

// One conversion of a Python format: "%s" (the shortest text that identifies the number), "%5d", "%.3f"... Numbers are
// formatted as in the C locale. ValueError for another format; TypeError for a number without such a conversion.
// Messages start with `op`, which must outlive the format.
class ElementFormat {
 public:
  ElementFormat(std::string_view op, std::string_view format);
  std::string operator()(const catena::Scalar& value) const;

 private:
  bool is_integral() const { return std::string_view("dixXo").find(conversion_) != std::string_view::npos; }

  std::string_view op_;
  std::string text_;
  char conversion_ = 's';
};

}  // namespace nd::internal
