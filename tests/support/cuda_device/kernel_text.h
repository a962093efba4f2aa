// What the software device needs to know about the text of kernels without compiling it. The scan reads tokens, not
// C++: a kernel that only a macro makes visible is not found.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_device {

struct Header {
  std::string name, text;
};
std::uint64_t hash_of(const std::vector<Header>& headers);

struct TextScan {
  struct Kernel {
    std::string name;       // as it is looked up
    std::string qualified;  // as C++ names it: "::space::name"
  };
  std::vector<Kernel> kernels;              // those that are extern "C"
  std::vector<std::string> dynamic_shared;  // symbols of the extern __shared__ arrays, mangled
};
TextScan scan(std::string_view text);

// The part of a generated text that one kernel adds: from its description ("// kernel: ...") to the next.
struct Segment {
  std::string_view description;  // without "// kernel: "
  std::string_view body;         // with it
  std::uint64_t hash() const;
  // A description says all that is needed to generate the kernel again; that of a program of several steps has only its
  // hash.
  bool complete() const { return !description.starts_with("program "); }
};
struct Segments {
  std::string_view head;  // the includes
  std::vector<Segment> segments;
};
// No segments: not a generated text.
Segments split(std::string_view text);

// Gives the text of a header by its name, or nothing when there is none.
using HeaderText = std::function<std::string(const std::string& name)>;
// The headers that a text includes, itself or through others, each once.
std::vector<std::string> all_included(std::string_view text, const HeaderText& header);

// False when threads cannot wait for each other nor share memory: no word for it occurs in the text or in a header that
// it includes.
bool can_synchronise(std::string_view text, const HeaderText& header);

}  // namespace cuda_device
