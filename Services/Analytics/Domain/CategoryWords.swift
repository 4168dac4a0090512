/// Finds the category that the words of a payment speak for.
///
/// A word counts as a whole: "fare" is transport, "welfare" is nothing. When words speak for several categories, the
/// first in the text wins.
enum CategoryWords {
    /// The category of a text; nil when no word says anything.
    static func category(of text: String) -> Category? {
        for word in text.lowercased().split(whereSeparator: { !$0.isLetter }) {
            if let category = self.byWord[String(word)] { return category }
        }
        return nil
    }

    private static let byWord: [String: Category] = {
        var categories: [String: Category] = [:]
        for (category, words) in Self.words {
            for word in words.split(separator: " ") { categories[String(word)] = category }
        }
        return categories
    }()

    /// As people in Nigeria write.
    private static let words: [(Category, String)] = [
        (.food, "food lunch dinner breakfast suya jollof amala pizza shawarma restaurant buka chop snacks drinks"),
        (.groceries, "groceries grocery market foodstuff foodstuffs supermarket provisions rice garri yam"),
        (.transport, "transport fare taxi bus bolt uber ride fuel petrol keke okada flight ticket"),
        (.housing, "rent landlord house apartment caution plumber carpenter electrician repairs"),
        (.bills, "bill bills electricity nepa phcn light power water internet wifi dstv gotv waste"),
        (.airtime, "airtime recharge data mtn glo airtel"),
        (.health, "hospital pharmacy drugs medicine doctor clinic dentist medical"),
        (.education, "school tuition fees books course lesson lessons exam waec jamb university"),
        (.entertainment, "movie movies cinema party club game games concert netflix show"),
        (.salary, "salary wages payroll stipend"),
        (.savings, "savings saving ajo esusu contribution"),
        (.charity, "offering tithe donation zakat church mosque charity"),
        (.gifts, "gift birthday wedding asoebi congratulations"),
        (.shopping, "shoes clothes dress bag phone laptop hair wig"),
    ]
}
