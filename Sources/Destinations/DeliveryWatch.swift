import HandoffCore
import HandoffProtocol
import LinuxSystem
import Synchronization

/// Ends a delivery that copies nothing for too long, takes too long, or is cancelled, and knows what came
/// of it.
final class DeliveryWatch: Sendable {
  private let progress: DeliveryProgress
  private let idle: Duration
  private let result = OneTimeValue<HandoffResult.Outcome>()
  private let timers = Mutex<[EventLoop.Registration]>([])

  /// How long an abandoned delivery may need to clear away what it staged.
  private static let grace: Duration = .seconds(2)

  init(_ progress: DeliveryProgress, settings: DestinationSettings) {
    self.progress = progress
    idle = settings.idle
    let ceiling = settings.ceiling
    after(ceiling) { $0.abandon(.ceiling(ceiling)) }
    awaitSilence(idle)
  }

  /// The delivery's thread has ended.
  func ended(_ outcome: HandoffResult.Outcome) {
    result.set(outcome)
    for timer in timers.withLock({ $0 }) { timer.cancel() }
  }

  /// What came of it; the task's cancellation abandons the delivery.
  func outcome() async -> HandoffResult.Outcome {
    // A task of its own: cancellation does not shorten the wait for what came of the delivery.
    let waiting = Task { try await result.get() }
    do {
      return try await withTaskCancellationHandler {
        try await waiting.value
      } onCancel: {
        abandon(.stopped)
      }
    } catch {
      return .failure(ResultError(.interrupted, "the wait for it ended", effect: .unknown))
    }
  }

  private func abandon(_ reason: DeliveryProgress.Reason) {
    let isAbandoned = progress.abandon(reason)
    after(Self.grace) { watch in
      // Being placed, and the kernel does not return: only it knows.
      let late = ResultError(
        .receiverTimeout,
        "the inbox does not answer while the copy gets its name",
        effect: .unknown,
        remedy: "look into the inbox, then `handoff adopt` or `retry`"
      )
      watch.result.set(.failure(isAbandoned ? reason.error : late))
    }
  }

  private func awaitSilence(_ rest: Duration) {
    after(rest) { watch in
      let silence = watch.progress.silence
      if silence >= watch.idle {
        watch.abandon(.idle(watch.idle))
      } else {
        watch.awaitSilence(watch.idle - silence)
      }
    }
  }

  private func after(_ time: Duration, _ work: @escaping @Sendable (DeliveryWatch) -> Void) {
    guard result.current == nil else { return }
    let timer = EventLoop.process.after(time) { [weak self] in
      if let self { work(self) }
    }
    timers.withLock { $0.append(timer) }
  }
}
