// Python's pickles, read without executing anything: an interpreter of the opcodes (Python: Lib/pickletools.py) that
// makes values of the kinds of PickleNode. The classes and functions that a pickle may name are those of a class
// derived from PickleReader, such as the reader of NumPy's arrays in training/datasets and that of PyTorch's tensors in
// nn/serializers; other names are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <catena/kernels/base/error.h>

namespace catena {

struct PickleNode {
  // array: what a derived class makes of a call that gives an array; object: other results of calls
  enum class Kind : std::uint8_t { none, boolean, integer, number, text, list, tuple, dict, array, global, object };
  Kind kind = Kind::none;
  std::int64_t integer = 0;  // also for booleans
  double number = 0;
  std::string text;                // bytes and text; global: "module name"; others as the derived class says
  std::vector<PickleNode*> items;  // dict: keys and values alternately; others as the derived class says
  std::vector<std::int64_t> shape, strides;
};

// Reads a pickle of protocol 1 to 4 that consists of None, numbers, texts, lists, tuples, dicts and what the derived
// class makes of calls. Nothing is executed: a pickle that refers to another class or function is a ValueError with its
// name, and so is a truncated one or one with other opcodes. The pickle is not trusted: the number of values is
// limited, and copies of values must not be larger than the pickle.
class CATENA_EXPORT PickleReader {
 public:
  using Kind = PickleNode::Kind;

  PickleReader(const PickleReader&) = delete;
  PickleReader& operator=(const PickleReader&) = delete;
  virtual ~PickleReader();

  // The value of the pickle, which belongs to the reader.
  const PickleNode& root() const noexcept { return *root_; }
  // Returns the value of a key of the pickle, which must be a dict. The ValueError names the key if there is no value
  // of that kind.
  const PickleNode& member(std::string_view key, Kind kind) const;
  // Number of bytes that the pickle has; others may follow it.
  std::size_t length() const noexcept { return at_; }

 protected:
  // `context` is the beginning of messages; `whose` ends those on unknown names and opcodes: "which no data set needs".
  // The bytes are not used after run().
  PickleReader(std::string context, std::string_view bytes, std::string_view whose);
  // Reads the pickle. To be called by the constructor of the derived class.
  void run();

  // True for a class or a function, "module name", that the derived class can call.
  virtual bool can_call(std::string_view global) const = 0;
  // Returns the result of a call, which is not null.
  virtual PickleNode& call(const PickleNode& function, const std::vector<PickleNode*>& arguments) = 0;
  // Gives an object its state: BUILD. Refuses by default.
  virtual void set_state(PickleNode& object, const PickleNode& state);
  // Returns the object that a file has outside the pickle. Refuses by default.
  virtual PickleNode& persistent(const PickleNode& id);

  PickleNode& make(Kind kind);
  // Notes that n bytes are copied from a value to another one.
  void count_copy(std::uint64_t n);
  template <class... Parts> [[noreturn]] void refuse(const Parts&... parts) const {
    fail<ValueError>(context_, parts...);
  }

 private:
  bool execute(unsigned char opcode);
  bool push_constant(unsigned char opcode);
  bool push_text(unsigned char opcode);
  bool build_container(unsigned char opcode);
  bool use_memo(unsigned char opcode);
  void push_global(std::string_view module, std::string_view name);
  void push_long(int n_bytes);
  void reduce();

  PickleNode& push(Kind kind);
  void push_integer(Kind kind, std::int64_t value);
  PickleNode& pop();
  PickleNode& top(Kind kind);
  std::vector<PickleNode*> pop_to_mark();
  std::vector<PickleNode*> pop_last(std::size_t n);
  void store(std::uint64_t key);

  std::string_view take(std::uint64_t n);
  std::uint64_t take_number(int n_bytes);  // little endian
  std::string_view take_line();

  std::string context_;
  std::string_view bytes_, whose_;
  std::size_t at_ = 0;
  std::uint64_t copied_ = 0;      // bytes of values made from other values
  std::deque<PickleNode> nodes_;  // owns all nodes, because the objects of a pickle may refer to each other in cycles
  std::vector<PickleNode*> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, PickleNode*> memo_;
  PickleNode* root_ = nullptr;
};

}  // namespace catena
