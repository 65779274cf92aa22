import HandoffTestSupport
import Paths
import SQLite
import Testing

@Suite("A connection", .timeLimit(.minutes(1)))
struct ConnectionTests {
  @Test(
    "A value comes back as it went in",
    arguments: [
      Value.null, .integer(.min), .integer(.max), .real(-0.5), .text(""), .text("é\u{0}\n'"),
      .blob([]), .blob([0, 255, 39]),
    ]
  )
  func values(value: Value) async throws {
    try await withConnection { connection in
      try connection.execute("CREATE TABLE t (v ANY) STRICT")
      try connection.run(SQL("INSERT INTO t (v) VALUES (?1)"), [value])
      let read: Value? = try connection.first(SQL("SELECT v FROM t")) { row throws -> Value in
        switch value {
        case .null: row.isNull(0) ? .null : .integer(0)
        case .integer: .integer(try row.integer(0))
        case .real: .real(try row.real(0))
        case .text: .text(try row.text(0))
        case .blob: .blob(try row.blob(0))
        }
      }
      #expect(read == value)
    }
  }

  @Test("A column of another type is an error, not a default")
  func mismatch() async throws {
    try await withConnection { connection in
      #expect(throws: SQLiteError.self) {
        try connection.first(SQL("SELECT 'text'")) { row in try row.integer(0) }
      }
      #expect(throws: SQLiteError.self) {
        try connection.first(SQL("SELECT NULL")) { row in try row.text(0) }
      }
    }
  }

  @Test("An error names the statement and no value")
  func errors() async throws {
    try await withConnection { connection in
      try connection.execute("CREATE TABLE t (v TEXT UNIQUE) STRICT")
      let insert = SQL("INSERT INTO t (v) VALUES (?1)")
      try connection.run(insert, [.text("secret-value")])
      let error = #expect(throws: SQLiteError.self) {
        try connection.run(insert, [.text("secret-value")])
      }
      #expect(error?.isConstraint == true)
      #expect(error?.mayPass == false)
      #expect("\(error as Any)".contains("INSERT INTO t"))
      #expect(!"\(error as Any)".contains("secret-value"))
    }
  }

  @Test("A savepoint undoes only its own work")
  func savepoints() async throws {
    struct Stop: Error {}
    try await withConnection { connection in
      try connection.execute("CREATE TABLE t (v INTEGER) STRICT")
      let insert = SQL("INSERT INTO t (v) VALUES (?1)")
      try connection.transaction {
        try connection.run(insert, [.integer(1)])
        #expect(throws: Stop.self) {
          try connection.savepoint {
            try connection.run(insert, [.integer(2)])
            throw Stop()
          }
        }
        _ = try connection.savepoint { try connection.run(insert, [.integer(3)]) }
      }
      #expect(throws: Stop.self) {
        try connection.transaction {
          try connection.run(insert, [.integer(4)])
          throw Stop()
        }
      }
      let rows = try connection.rows(SQL("SELECT v FROM t ORDER BY v")) { row in
        try row.integer(0)
      }
      #expect(rows == [1, 3])
    }
  }

  @Test("A durable connection syncs each commit and checks foreign keys")
  func pragmas() async throws {
    try await withConnection { connection in
      func pragma(_ name: String) throws -> Int64? {
        try connection.first(SQL("PRAGMA \(name)")) { row in try row.integer(0) }
      }
      #expect(try pragma("synchronous") == 2)
      #expect(try pragma("foreign_keys") == 1)
      let mode = try connection.first(SQL("PRAGMA journal_mode")) { row in try row.text(0) }
      #expect(mode == "wal")
    }
  }

  @Test("Migrations are applied once, in order, all or none")
  func migrations() async throws {
    try await withConnection { connection in
      let first = "CREATE TABLE a (v INTEGER) STRICT"
      let second = "INSERT INTO a (v) VALUES (1); CREATE TABLE b (v INTEGER) STRICT"
      try connection.migrate([first], applicationID: 7)
      try connection.migrate([first], applicationID: 7)
      #expect(try connection.schemaVersion() == 1)
      #expect(throws: SQLiteError.self) {
        try connection.migrate([first, second, "CREATE TABLE b"], applicationID: 7)
      }
      #expect(try connection.schemaVersion() == 1)
      try connection.migrate([first, second], applicationID: 7)
      let count = try connection.first(SQL("SELECT count(*) FROM a")) { row in
        try row.integer(0)
      }
      #expect(count == 1)
      #expect(throws: SchemaError.newer(found: 2, known: 1)) {
        try connection.migrate([first], applicationID: 7)
      }
      #expect(throws: SchemaError.foreign) {
        try connection.migrate([first, second], applicationID: 8)
      }
      #expect(try connection.damage().isEmpty)
    }
  }

  @Test("A closed connection is an error, not a crash")
  func closed() async throws {
    try await withConnection { connection in
      try connection.close()
      #expect(throws: SQLiteError.self) { try connection.run(SQL("SELECT 1")) }
    }
  }

  @Test("A path that is not UTF-8 is opened as it is")
  func bytePath() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let path = directory.appending(BytePath([0xFF, 0x27]))
      let connection = try Connection(path, .write, busyTimeout: .seconds(1))
      try connection.execute("CREATE TABLE t (v INTEGER) STRICT")
      try connection.close()
      let reader = try Connection(path, .read, busyTimeout: .seconds(1))
      #expect(throws: SQLiteError.self) { try reader.execute("DROP TABLE t") }
      try reader.close()
    }
  }

  nonisolated(nonsending) private func withConnection(
    _ body: (Connection) throws -> Void
  ) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let path = directory.appending("test.db")
      try body(try Connection(path, .write, busyTimeout: .seconds(5)))
    }
  }
}
