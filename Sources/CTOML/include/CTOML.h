// A C face of toml++ (github.com/marzer/tomlplusplus): bytes in, a flat list of entries out.
//
// No C++ exception leaves it, and no input makes it run out of stack: nesting is bounded before the
// parser sees the document.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  CTOML_TABLE,
  CTOML_ARRAY,
  CTOML_STRING,
  CTOML_INTEGER,
  CTOML_FLOAT,
  CTOML_BOOLEAN,
  CTOML_DATE,
  CTOML_TIME,
  CTOML_DATE_TIME,
} ctoml_kind;

// Lines and columns count from 1; columns are code points. 0 where there is none.
typedef struct {
  uint32_t line;
  uint32_t column;
} ctoml_place;

// One value. `key` and `text` live as long as the document and are not terminated.
typedef struct {
  ctoml_kind kind;
  // Index of the table or array that holds it; SIZE_MAX for the root, which is entry 0.
  size_t parent;
  // The key in its table; NULL for elements of arrays and for the root.
  const uint8_t *key;
  size_t key_length;
  ctoml_place key_place;
  ctoml_place place;
  // The content of a string; the text of a date, time or date-time as RFC 3339 has it.
  const uint8_t *text;
  size_t text_length;
  int64_t integer;  // also 0 or 1 for a boolean
  double number;
} ctoml_entry;

typedef struct ctoml_document ctoml_document;

// Parses a document. Returns NULL only when there is no memory at all.
ctoml_document *ctoml_parse(const uint8_t *bytes, size_t count);

// The sentence of a syntax error and its place, or NULL if the document was parsed.
const char *ctoml_error(const ctoml_document *document, ctoml_place *place);

// The entries, each after the one that holds it. 0 after an error.
size_t ctoml_count(const ctoml_document *document);
ctoml_entry ctoml_get(const ctoml_document *document, size_t index);

void ctoml_free(ctoml_document *document);

#ifdef __cplusplus
}
#endif
