import ServiceKit
import TransactionService

@main
enum Main {
    static func main() async {
        await ServiceMain.run(.transaction)
    }
}
