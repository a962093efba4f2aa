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
  std::int64_t integer = 0;        // also for booleans
  std::string text;                // bytes and text; global: "module name"; array: bytes in C order
  std::vector<PickleNode*> items;  // dict: keys and values alternately
  std::vector<std::int64_t> shape;
};

// Reads a pickle of protocol 1 to 3 that consists of None, numbers, texts, lists, tuples, dicts and NumPy arrays of
// bytes. Nothing is executed: a pickle that refers to another class or function is a ValueError, and so is a truncated
// one or one with other opcodes (Python: Lib/pickletools.py). The pickle is not trusted.
class Pickle {
 public:
  // `context` is the beginning of messages. `bytes` is not used after the constructor.
  Pickle(std::string context, std::string_view bytes);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  // Returns the value of a key of the pickle, which must be a dict. The ValueError names the key if there is no value
  // of that kind.
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
  std::deque<PickleNode> nodes_;  // owns all nodes, because the objects of a pickle may refer to each other in cycles
  std::vector<PickleNode*> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, PickleNode*> memo_;
  PickleNode* root_ = nullptr;
};

}  // namespace training::datasets::internal
