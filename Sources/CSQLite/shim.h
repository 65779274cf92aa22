#pragma once
#include <sqlite3.h>

// sqlite3_config is variadic.

/// Turns off the counting of memory, which costs a lock for every allocation. To be called once,
/// before anything else; see sqlite.org/c3ref/c_config_covering_index_scan.html.
static inline int handoff_sqlite3_configure(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// SQLITE_TRANSIENT is a cast that does not import into Swift: SQLite copies what is bound.

static inline int handoff_sqlite3_bind_text(
    sqlite3_stmt *statement, int index, const char *bytes, int count) {
  return sqlite3_bind_text(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int handoff_sqlite3_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, int count) {
  // A null pointer would bind NULL, not an empty blob.
  if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
  return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}
