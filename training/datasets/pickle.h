// Python pickles of data sets. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace training::datasets::internal {

struct PickleNode {
  enum class Kind { none, boolean, integer, text, list, tuple, dict, array, global, dtype };
  Kind kind = Kind::none;
  std::int64_t integer = 0;        // of booleans, too
  std::string text;                // bytes and text; of a global "module name"; of an array its bytes in C order
  std::vector<PickleNode*> items;  // of a dict keys and values in turn
  std::vector<std::int64_t> shape;
};

// Reads a pickle of the protocols 1 to 3 that consists of None, numbers, texts, lists, tuples, dicts and NumPy arrays
// of bytes. Nothing is executed: a pickle that names another class or function is a ValueError, as is one that is cut
// off or has other opcodes (Python: Lib/pickletools.py). The pickle is not trusted.
class Pickle {
 public:
  // Messages begin with `context`. `bytes` is not referred to after the constructor.
  Pickle(std::string context, std::string_view bytes);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  // The value of a key of the pickle, which must be a dict. ValueError naming the key if it has none of that kind.
  const PickleNode& member(std::string_view key, PickleNode::Kind kind) const;

 private:
  using Kind = PickleNode::Kind;
  void run();
  bool execute(unsigned char opcode);
  bool push_constant(unsigned char opcode);
  bool build_container(unsigned char opcode);
  bool use_memo(unsigned char opcode);
  void reduce();
  void build();
  void build_array(PickleNode& array, const PickleNode& state);

  PickleNode& push(Kind kind);
  void push_integer(Kind kind, std::int64_t value);
  void push_text(std::uint64_t length);
  PickleNode& pop();
  PickleNode& top(Kind kind);
  std::vector<PickleNode*> pop_to_mark();
  std::vector<PickleNode*> pop_last(std::size_t n);

  std::string_view take(std::uint64_t n);
  void count_copy(std::uint64_t n);
  std::uint64_t take_number(int n_bytes);  // little endian
  std::string_view take_line();
  template <class... Parts> [[noreturn]] void refuse(const Parts&... parts) const;

  std::string context_;
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint64_t copied_ = 0;      // bytes of values made from other values
  std::deque<PickleNode> nodes_;  // owns them all: the objects of a pickle may refer to each other in circles
  std::vector<PickleNode*> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, PickleNode*> memo_;
  PickleNode* root_ = nullptr;
};

}  // namespace training::datasets::internal
