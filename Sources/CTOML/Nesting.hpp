// Bounds the nesting of a document before toml++ builds it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "CTOML.h"

namespace ctoml {

// toml++ bounds nested values but not dotted keys, and frees its tree by recursion: some hundred
// thousand dots end in a stack overflow. So brackets and runs of dots outside strings and comments
// are counted first. Both bounds together allow about a thousand levels, far below any stack.
class NestingScan {
public:
  static constexpr std::size_t limit = 32;

  NestingScan(const std::uint8_t *bytes, std::size_t count) : at_(bytes), end_(bytes + count) {}

  // Whether the document stays within the bounds; if not, `place()` says where it leaves them.
  bool passes();

  ctoml_place place() const { return place_; }

private:
  void step();
  void skipComment();
  void skipString(std::uint8_t quote);
  void skipLongString(std::uint8_t quote);
  bool atTriple(std::uint8_t quote) const;
  bool count(std::uint8_t byte);

  const std::uint8_t *at_;
  const std::uint8_t *end_;
  ctoml_place place_{1, 1};
  std::size_t depth_ = 0;
  std::size_t dots_ = 0;
};

}  // namespace ctoml
