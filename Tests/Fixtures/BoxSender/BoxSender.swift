import HandoffClient
import HandoffProtocol

@main
struct BoxSender {
  static func main() async throws {
    let client = HandoffClient(state: CommandLine.arguments[1])
    guard let clip = LocalIdentifier(CommandLine.arguments[2]),
      let social = DestinationName("social")
    else { return }
    let request = SendRequest([clip], to: social, title: "Day 1", syncPublish: true)
    let result = try await client.send(request)
    print(result.outcome)
  }
}
