/// The stages after the import, each driven by the ledger.
struct Stages: Sendable {
  let recovery: RecoveryStage
  let expiry: ExpiryStage
  let receipts: ReceiptStage
  let verification: VerificationStage
  let check: CheckDesk
  let exec: [ExecStage]
  let plugins: [PluginStage]
}
