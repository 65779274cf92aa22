#include "CTOML.h"

#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "Nesting.hpp"

namespace {

ctoml_place placeOf(const toml::source_position &position) {
  return {static_cast<uint32_t>(position.line), static_cast<uint32_t>(position.column)};
}

struct Entry {
  ctoml_kind kind;
  size_t parent;
  bool hasKey = false;
  std::string key;
  ctoml_place keyPlace{0, 0};
  ctoml_place place{0, 0};
  std::string text;
  int64_t integer = 0;
  double number = 0;
};

}  // namespace

struct ctoml_document {
  bool failed = false;
  std::string error;
  ctoml_place errorPlace{0, 0};
  std::vector<Entry> entries;

  void fail(std::string_view sentence, ctoml_place place) {
    entries.clear();
    failed = true;
    error = sentence;
    errorPlace = place;
  }
};

namespace {

template <typename Value> std::string written(const Value &value) {
  std::ostringstream stream;
  stream << value;
  return stream.str();
}

ctoml_kind kindOf(const toml::node &node) {
  switch (node.type()) {
  case toml::node_type::table: return CTOML_TABLE;
  case toml::node_type::array: return CTOML_ARRAY;
  case toml::node_type::integer: return CTOML_INTEGER;
  case toml::node_type::floating_point: return CTOML_FLOAT;
  case toml::node_type::boolean: return CTOML_BOOLEAN;
  case toml::node_type::date: return CTOML_DATE;
  case toml::node_type::time: return CTOML_TIME;
  case toml::node_type::date_time: return CTOML_DATE_TIME;
  default: return CTOML_STRING;
  }
}

void setContent(Entry &entry, const toml::node &node) {
  if (const auto *string = node.as_string()) entry.text = string->get();
  if (const auto *integer = node.as_integer()) entry.integer = integer->get();
  if (const auto *number = node.as_floating_point()) entry.number = number->get();
  if (const auto *boolean = node.as_boolean()) entry.integer = boolean->get() ? 1 : 0;
  if (const auto *date = node.as_date()) entry.text = written(date->get());
  if (const auto *time = node.as_time()) entry.text = written(time->get());
  if (const auto *moment = node.as_date_time()) entry.text = written(moment->get());
}

class Flattening {
public:
  explicit Flattening(std::vector<Entry> &entries) : entries_(entries) {}

  void add(const toml::node &node, size_t parent, const toml::key *key) {
    Entry entry{kindOf(node), parent};
    entry.place = placeOf(node.source().begin);
    if (key != nullptr) {
      entry.hasKey = true;
      entry.key = key->str();
      entry.keyPlace = placeOf(key->source().begin);
    }
    setContent(entry, node);
    const size_t index = entries_.size();
    entries_.push_back(std::move(entry));
    if (const auto *table = node.as_table()) {
      for (const auto &[name, value] : *table) add(value, index, &name);
    } else if (const auto *array = node.as_array()) {
      for (const auto &value : *array) add(value, index, nullptr);
    }
  }

private:
  std::vector<Entry> &entries_;
};

void parse(ctoml_document &document, std::string_view text) {
  ctoml::NestingScan scan(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  if (!scan.passes()) {
    document.fail("nested too deeply", scan.place());
    return;
  }
  try {
    const toml::table root = toml::parse(text);
    Flattening(document.entries).add(root, SIZE_MAX, nullptr);
  } catch (const toml::parse_error &error) {
    document.fail(error.description(), placeOf(error.source().begin));
  }
}

const uint8_t *bytesOf(const std::string &text) {
  return reinterpret_cast<const uint8_t *>(text.data());
}

}  // namespace

ctoml_document *ctoml_parse(const uint8_t *bytes, size_t count) {
  std::unique_ptr<ctoml_document> document(new (std::nothrow) ctoml_document);
  if (!document) return nullptr;
  try {
    try {
      parse(*document, {count == 0 ? "" : reinterpret_cast<const char *>(bytes), count});
    } catch (const std::exception &error) {
      document->fail(error.what(), {0, 0});
    }
  } catch (...) {
    return nullptr;
  }
  return document.release();
}

const char *ctoml_error(const ctoml_document *document, ctoml_place *place) {
  if (!document->failed) return nullptr;
  *place = document->errorPlace;
  return document->error.c_str();
}

size_t ctoml_count(const ctoml_document *document) { return document->entries.size(); }

ctoml_entry ctoml_get(const ctoml_document *document, size_t index) {
  const Entry &entry = document->entries[index];
  return {
      entry.kind,
      entry.parent,
      entry.hasKey ? bytesOf(entry.key) : nullptr,
      entry.key.size(),
      entry.keyPlace,
      entry.place,
      bytesOf(entry.text),
      entry.text.size(),
      entry.integer,
      entry.number,
  };
}

void ctoml_free(ctoml_document *document) { delete document; }
