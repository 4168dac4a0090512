import ConsoleService
import ServiceKit

@main
enum Main {
    static func main() async {
        await ServiceMain.run(.console)
    }
}
