import AccountService
import ServiceKit

@main
enum Main {
    static func main() async {
        await ServiceMain.run(.account)
    }
}
