/// The stages after the import, each driven by the ledger.
struct Stages: Sendable {
  let recovery: RecoveryStage
  let expiry: ExpiryStage
  let deletion: DeletionStage
  let receipts: ReceiptStage
  let notices: NoticeStage
  let troubles: TroubleStage
  let check: CheckDesk
  let pruning: PruningStage
  let api: APIStage
  /// Those of destinations and callbacks, and the verification: a reload ends and starts them.
  let running: RunningStages
}
