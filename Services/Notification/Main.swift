import NotificationService
import ServiceKit

@main
enum Main {
    static func main() async {
        await ServiceMain.run(.notification)
    }
}
