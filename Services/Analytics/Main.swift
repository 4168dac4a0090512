import AnalyticsService
import ServiceKit

@main
enum Main {
    static func main() async {
        await ServiceMain.run(.analytics)
    }
}
