// Finds the properties of the text of kernels that the software device needs before compilation. The scan reads tokens,
// not C++: a kernel that only a macro makes visible is not found.
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
    std::string name;       // name for look-ups
    std::string qualified;  // name in C++: "::space::name"
  };
  std::vector<Kernel> kernels;              // kernels that are extern "C"
  std::vector<std::string> dynamic_shared;  // symbols of the extern __shared__ arrays, mangled
};
TextScan scan(std::string_view text);

// The part of a generated text that belongs to one kernel: from its description ("// kernel: ...") to the next.
struct Segment {
  std::string_view description;  // without "// kernel: "
  std::string_view body;         // including "// kernel: "
  std::uint64_t hash() const;
  // True if the description is sufficient to generate the kernel again. The description of a program of several steps
  // has only its hash.
  bool complete() const { return !description.starts_with("program "); }
};
struct Segments {
  std::string_view head;  // the #include lines
  std::vector<Segment> segments;
};
// Returns no segments if the text is not a generated one.
Segments split(std::string_view text);

// Returns the text of a header by its name, or an empty text if there is none.
using HeaderText = std::function<std::string(const std::string& name)>;
// Returns the headers that a text includes directly or indirectly, each once.
std::vector<std::string> all_included(std::string_view text, const HeaderText& header);

// False if threads cannot wait for each other or share memory, because neither the text nor a header that it includes
// has a word for it.
bool can_synchronise(std::string_view text, const HeaderText& header);

}  // namespace cuda_device
