import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// What a service takes, as it told.
struct ServiceLimits: Sendable {
  var constraints = Constraints()
  var further = FurtherLimits()
  /// Why they are not known, where they could not be asked.
  var trouble: String?

  /// Why an asset would not be taken, with effect `none`.
  func violation(by asset: ConstrainedAsset) -> ResultError? {
    if let violation = constraints.violation(by: asset) { return violation }
    guard let pixels = further.pixels, let width = asset.width, let height = asset.height,
      width.multipliedReportingOverflow(by: height).partialValue > pixels
    else { return nil }
    return ResultError(
      .unsupportedMedia,
      "\(width) × \(height) pixels, at most \(pixels) in all are taken",
      effect: .none,
      localIdentifier: asset.localIdentifier
    )
  }

  /// For people; nil where nothing is limited.
  var text: String? {
    var parts: [String] = []
    if let size = constraints.maxSize { parts.append("at most \(size) bytes") }
    if let seconds = constraints.maxDuration { parts.append("at most \(seconds) s") }
    if let containers = constraints.containers {
      parts.append("containers \(containers.joined(separator: ", "))")
    }
    if let codecs = constraints.videoCodecs {
      parts.append("codecs \(codecs.joined(separator: ", "))")
    }
    if let pixels = further.pixels { parts.append("at most \(pixels) pixels") }
    if let characters = further.characters { parts.append("texts of \(characters) characters") }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }
}

/// Asks a service for its limits, and remembers the answer for a while.
actor LimitsDesk {
  private static let lifetime = Duration.seconds(15 * 60)
  private var known: (limits: ServiceLimits, at: ContinuousClock.Instant)?

  /// What the service takes; with ``ServiceLimits/trouble`` where it could not be asked.
  ///
  /// - Throws: `CancellationError` alone.
  func limits(of platform: any Platform) async throws -> ServiceLimits {
    if let known, ContinuousClock.now - known.at < Self.lifetime { return known.limits }
    do {
      let limits = ServiceLimits(
        constraints: try await platform.limits(),
        further: try await platform.furtherLimits()
      )
      known = (limits, .now)
      return limits
    } catch let error as CancellationError {
      throw error
    } catch let error as ResultError {
      return ServiceLimits(trouble: error.message)
    } catch {
      return ServiceLimits(trouble: "\(error)")
    }
  }
}
