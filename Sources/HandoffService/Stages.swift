/// The stages after the import, each driven by the ledger.
struct Stages: Sendable {
  let recovery: RecoveryStage
  let expiry: ExpiryStage
  let deletion: DeletionStage
  let receipts: ReceiptStage
  let notices: NoticeStage
  let troubles: TroubleStage
  let verification: VerificationStage
  let check: CheckDesk
  let pruning: PruningStage
  let api: APIStage
  let exec: [ExecStage]
  let plugins: [PluginStage]
  let http: [HTTPStage]
  let urls: [URLStage]
  let files: [FileStage]
}
