#include "Nesting.hpp"

namespace ctoml {

void NestingScan::step() {
  const std::uint8_t byte = *at_++;
  if (byte == '\n') {
    place_.line += 1;
    place_.column = 1;
  } else if ((byte & 0xC0) != 0x80) {
    place_.column += 1;
  }
}

bool NestingScan::passes() {
  while (at_ < end_) {
    const std::uint8_t byte = *at_;
    if (byte == '#') {
      skipComment();
    } else if (byte == '"' || byte == '\'') {
      atTriple(byte) ? skipLongString(byte) : skipString(byte);
    } else {
      if (!count(byte)) return false;
      step();
    }
  }
  return true;
}

bool NestingScan::count(std::uint8_t byte) {
  switch (byte) {
  case '[':
  case '{':
    dots_ = 0;
    depth_ += 1;
    break;
  case ']':
  case '}':
    dots_ = 0;
    if (depth_ > 0) depth_ -= 1;
    break;
  case '.':
    dots_ += 1;
    break;
  case '=':
  case ',':
  case '\n':
    dots_ = 0;
    break;
  default:
    break;
  }
  return depth_ <= limit && dots_ <= limit;
}

void NestingScan::skipComment() {
  while (at_ < end_ && *at_ != '\n') step();
}

bool NestingScan::atTriple(std::uint8_t quote) const {
  return end_ - at_ >= 3 && at_[1] == quote && at_[2] == quote;
}

// Ends at the line's end at the latest: there the parser gives up.
void NestingScan::skipString(std::uint8_t quote) {
  step();
  while (at_ < end_ && *at_ != '\n') {
    const std::uint8_t byte = *at_;
    step();
    if (byte == quote) return;
    if (byte == '\\' && quote == '"' && at_ < end_ && *at_ != '\n') step();
  }
}

void NestingScan::skipLongString(std::uint8_t quote) {
  for (int index = 0; index < 3; ++index) step();
  while (at_ < end_) {
    if (*at_ == quote && atTriple(quote)) {
      // Up to two more quotes belong to the content.
      while (at_ < end_ && *at_ == quote) step();
      return;
    }
    const std::uint8_t byte = *at_;
    step();
    if (byte == '\\' && quote == '"' && at_ < end_) step();
  }
}

}  // namespace ctoml
