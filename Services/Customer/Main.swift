import CustomerService
import ServiceKit

@main
enum Main {
    static func main() async {
        await ServiceMain.run(.customer)
    }
}
