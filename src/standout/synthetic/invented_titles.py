"""Invented film titles. If one is also the title of a real film, this is an accident."""

from standout.core import rng
from standout.release.labels import Labels

__all__ = ["invented_titles"]

FIRST = (
    "Amber", "Autumn", "Borrowed", "Bright", "Broken", "Burning", "Careless", "Cold", "Crooked", "Distant",
    "Drowsy", "Empty", "Faithful", "Final", "Foreign", "Forgotten", "Frozen", "Gentle", "Gilded", "Golden",
    "Half-Open", "Hidden", "Hollow", "Honest", "Idle", "Innocent", "Invisible", "Last", "Lazy", "Little",
    "Lonely", "Long", "Lost", "Lucky", "Midnight", "Modest", "Narrow", "Northern", "Patient", "Perfect",
    "Pocket", "Private", "Quiet", "Rented", "Restless", "Rusty", "Second", "Secret", "Seventh", "Silent",
    "Sleeping", "Small", "Southern", "Stolen", "Strange", "Stubborn", "Sudden", "Tall", "Tender",
    "Unfinished", "Velvet", "Wandering", "Wild", "Winter", "Wooden",
)  # fmt: skip
SECOND = (
    "Accordion", "Afternoon", "Alibi", "Apprentice", "Archive", "Astronomer", "Balcony", "Beekeeper",
    "Bicycle", "Bridge", "Cartographer", "Cathedral", "Clockmaker", "Compass", "Corridor", "Courier",
    "Detective", "Dictionary", "Elephant", "Engine", "Envelope", "Expedition", "Ferry", "Gardener", "Ghost",
    "Harbour", "Harvest", "Heiress", "Holiday", "Horizon", "Hotel", "Inspector", "Island", "Janitor",
    "Jury", "Keyhole", "Kingdom", "Ladder", "Lantern", "Letter", "Library", "Lighthouse", "Machine",
    "Magician", "Market", "Mirror", "Neighbour", "Oath", "Orchard", "Orchestra", "Parade", "Passenger",
    "Piano", "Promise", "Quarry", "Railway", "Recipe", "Rehearsal", "River", "Rumour", "Sailor", "Season",
    "Shadow", "Shortcut", "Stranger", "Summer", "Tailor", "Teacher", "Theatre", "Train", "Umbrella",
    "Verdict", "Violin", "Visitor", "Voyage", "Waltz", "Weather", "Wedding", "Window", "Witness",
)  # fmt: skip
FORMS = ("The {} {}", "{} {}", "A {} {}", "My {} {}", "Beyond the {} {}", "Return of the {} {}")


def invented_titles(count: int, seed: int) -> Labels:
    """Different titles, `count` of them."""
    plain = len(FIRST) * len(SECOND) * len(FORMS)
    order = rng.generator(seed, "titles").permutation(max(plain, count))[:count]
    titles = []
    for number in order.tolist():
        sequel, combination = divmod(number, plain)
        form, words = divmod(combination, len(FIRST) * len(SECOND))
        title = FORMS[form].format(FIRST[words // len(SECOND)], SECOND[words % len(SECOND)])
        for vowel in "AEIU":
            title = title.replace(f"A {vowel}", f"An {vowel}")
        titles.append(f"{title} {sequel + 1}" if sequel else title)
    return Labels.of(titles)
