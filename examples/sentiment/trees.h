// Trees of the sentiment example, read from S-expressions: (3 (2 not) (1 (0 awful) (2 film))).
#pragma once

#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <catena/catena.h>

// Words and their numbers, in the order of their first appearance.
using Vocabulary = std::unordered_map<std::string, int>;

// A word, or two parts. The label says how the part of the sentence sounds: 0 (very negative) to 4 (very positive).
struct Tree {
  int label = 0;
  int word = -1;
  std::unique_ptr<Tree> left, right;
  bool is_leaf() const { return !left; }
};

class SexpParser {
 public:
  SexpParser(std::string_view line, Vocabulary& vocab) : rest_(line), vocab_(vocab) {}

  // ValueError for a text that is no such tree.
  Tree parse() {
    expect("(");
    Tree tree;
    const std::string_view label = token();
    check(label.size() == 1 && label[0] >= '0' && label[0] <= '9', "a label", label);
    tree.label = label[0] - '0';
    if (rest_.starts_with('(')) {
      tree.left = std::make_unique<Tree>(parse());
      tree.right = std::make_unique<Tree>(parse());
    } else {
      const std::string_view word = token();
      check(word != ")" && !word.empty(), "a word", word);
      tree.word = vocab_.try_emplace(std::string(word), int(vocab_.size())).first->second;
    }
    expect(")");
    return tree;
  }

 private:
  // Returns the next token, a parenthesis or what stands between spaces and parentheses; empty at the end.
  std::string_view token() {
    const bool parenthesis = rest_.starts_with('(') || rest_.starts_with(')');
    const std::string_view found = rest_.substr(0, parenthesis ? 1 : rest_.find_first_of("() \r"));
    rest_.remove_prefix(found.size());
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \r"), rest_.size()));
    return found;
  }
  void expect(std::string_view wanted) {
    const std::string_view found = token();
    check(found == wanted, wanted, found);
  }
  void check(bool good, std::string_view wanted, std::string_view found) const {
    catena::check<catena::ValueError>(good, "SexpParser", "expected ", wanted, " in place of \"", found, "\" before \"",
                                      rest_.substr(0, 40), '"');
  }

  std::string_view rest_;
  Vocabulary& vocab_;
};

// Reads the trees of some lines, at most max_size unless that is 0.
inline std::vector<Tree> parse_corpus(const std::vector<std::string>& lines, Vocabulary& vocab, std::size_t max_size) {
  std::vector<Tree> trees;
  for (const std::string& line : lines) {
    if (max_size != 0 && trees.size() == max_size) break;
    trees.push_back(SexpParser(line, vocab).parse());
  }
  return trees;
}

inline std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  catena::check<catena::IOError>(bool(file), "read_lines", '"', path, "\" cannot be read");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}
