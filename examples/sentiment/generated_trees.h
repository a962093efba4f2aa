// Trees that take the place of the Stanford Sentiment Treebank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

// Generates lines of trees by a rule that can be learned: a word has a score from -2 to 2, two parts sound as the sum
// of their scores, at most 2 and at least -2, and "not" turns the score of the part behind it around. The label is
// the score plus 2.
class TreeGenerator {
 public:
  explicit TreeGenerator(unsigned seed) : random_(seed) {}
  std::vector<std::string> lines(std::size_t n) {
    std::vector<std::string> result(n);
    for (std::string& line : result) line = make(4).text;
    return result;
  }

 private:
  struct Part {
    int score;
    std::string text;
  };
  static Part node(int score, const std::string& content) {
    return {score, '(' + std::to_string(score + 2) + ' ' + content + ')'};
  }
  int draw(int n) { return int(random_() % unsigned(n)); }

  Part make(int depth) {
    if (depth == 0 || draw(6) == 0) {
      const int score = draw(5) - 2;
      return node(score, kWords[score + 2] + std::to_string(draw(20)));
    }
    const bool negated = draw(5) == 0;
    const Part left = negated ? node(0, "not") : make(depth - 1), right = make(depth - 1);
    return node(negated ? -right.score : std::clamp(left.score + right.score, -2, 2), left.text + ' ' + right.text);
  }

  static constexpr const char* kWords[] = {"awful", "poor", "plain", "good", "great"};
  std::mt19937 random_;
};
