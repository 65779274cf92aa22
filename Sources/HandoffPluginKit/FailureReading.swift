import HandoffProtocol

/// Reads what an author threw.
struct FailureReading {
  let isIdempotent: Bool

  /// The longest message that is sent, in characters, so that a result fits its document.
  private static let longestMessage = 1000

  /// The outcome that a thrown error means, for a handoff that was to be given up or not.
  func outcome(of error: any Error, isCancelled: Bool) -> HandoffResult.Outcome {
    switch error {
    case let error as ResultError:
      isCancelled && error.code == .interrupted ? .cancelled(error) : .failure(error)
    case is CancellationError where isCancelled:
      .cancelled(interruption)
    case is CancellationError:
      .failure(interruption)
    default:
      .failure(
        ResultError(
          .receiverFailed,
          "\(error)",
          effect: isIdempotent ? .none : .unknown,
          retry: isIdempotent ? .later : .never
        )
      )
    }
  }

  private var interruption: ResultError {
    ResultError(.interrupted, "given up", effect: isIdempotent ? .none : .unknown)
  }

  /// The outcome in a form that fits a result document: long texts are cut, and an output that is too
  /// large is left out, because what was done stays done.
  static func fitting(_ outcome: HandoffResult.Outcome) -> HandoffResult.Outcome {
    switch outcome {
    case .success(let output):
      let size = WireCoder.size(of: output)
      guard size > HandoffResult.maximumSize - 1024 else { return outcome }
      return .success(output: ["note": .string("output of \(size) bytes left out")])
    case .cancelled(let error): return .cancelled(error.map(shortened))
    case .failure(let error): return .failure(shortened(error))
    }
  }

  private static func shortened(_ error: ResultError) -> ResultError {
    var error = error
    error.message = String(error.message.prefix(longestMessage))
    error.remedy = error.remedy.map { String($0.prefix(longestMessage)) }
    return error
  }
}

extension WireCoder {
  /// How many bytes a document takes; what cannot be encoded counts as too large.
  fileprivate static func size(of document: some Encodable) -> Int {
    do {
      return try encode(document).count
    } catch {
      return .max
    }
  }
}
