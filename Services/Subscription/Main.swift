import ServiceKit
import SubscriptionService

@main
enum Main {
    static func main() async {
        await ServiceMain.run(.subscription)
    }
}
