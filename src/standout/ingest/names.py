"""Well-known names of columns: which role or which kind a name suggests, in English, German, French and Spanish."""

import re
from collections.abc import Sequence
from itertools import chain, count

from standout.data.column import ColumnRole

ROLES = ("record", "item", "value", "time")
PLACE_ROLES = ("latitude", "longitude")


def _words(words: str) -> list[str]:
    return words.split()


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


RECORDS = _words(
    "user customer member person subscriber client patient subject reviewer rater viewer reader listener passenger "
    "driver rider player participant employee student kunde kundin nutzer benutzer teilnehmer mitglied utilisateur "
    "cliente usuario"
)
NUMBERED_RECORDS = _words(
    "kundennummer kundennr kundenid mitgliedsnummer mitgliedsnr patientennummer patientennr patientenid"
)
OTHER_RECORDS = _words("account profile device visitor session record household")
ITEMS = _words(
    "item movie film product article book track song artist place poi venue game business anime show recipe "
    "restaurant beer course joke artikel produkt buch produit livre artículo articulo producto libro película"
)
NUMBERED_ITEMS = _words("artikelnummer artikelnr produktnummer produktnr")
OTHER_ITEMS = _words("location page")
VALUES = _words(
    "rating ratings score stars value quantity qty amount overall grade vote weight bookrating userrating movierating "
    "ratingvalue ratingscore reviewscore playcount bewertung menge anzahl quantité quantite cantidad"
)
TIMES = _words(
    "timestamp time date datetime day ratedat createdat ratingdate invoicedate unixreviewtime reviewtime watchedat "
    "purchasedate orderdate checkintime datum zeitstempel zeitpunkt fecha"
)
EXACT: dict[str, list[list[str]]] = {
    "record": [
        [*(f"{noun}id" for noun in RECORDS), *NUMBERED_RECORDS, "uid"],
        RECORDS,
        [f"{noun}id" for noun in OTHER_RECORDS],
        [*OTHER_RECORDS, "username"],
    ],
    "item": [
        [*(f"{noun}id" for noun in ITEMS), *NUMBERED_ITEMS, "asin", "isbn", "sku", "stockcode"],
        ITEMS,
        [f"{noun}id" for noun in OTHER_ITEMS],
        [*OTHER_ITEMS, "url", "title"],
    ],
    "value": [[word] for word in VALUES],
    "time": [[word] for word in TIMES],
    "latitude": [["latitude"], ["lat"]],
    "longitude": [["longitude"], ["lon"], ["lng"], ["long"]],
}
"""Names for each role by rank, the best first: an id before a bare noun, a usual unit before an unusual one.

Two names of one rank compete for the role."""
DATED = dict(zip(_words("ts when seen visited watched rated purchased bought created checkin"), count(20)))
"""Ordinary words, and their rank: they are the time only if the cells are dates."""
FUZZY = 100
"""Rank of a name that only contains a well-known word."""
VALUE_WORDS = _set("rating ratings score stars quantity qty amount grade value bewertung menge")
TIME_WORDS = _set("time date datetime timestamp ts day at datum fecha")
TIME_ENDS = ("time", "date", "timestamp", "datum")
FIRST_TIME_WORDS = _set("date datetime timestamp time")
OTHER_DATES = _set(
    "birth release released expiry expires expiration valid due until end update updated modified registration "
    "registered signup joined join published zone"
)
"""Dates with such a word are about a person or an item, not about an entry: they are never guessed."""
PERSONAL = {*RECORDS, *_words("first last full family given middle sur nick display real")}
ID_SUFFIXES = _set("id ids no nr number num code key")
ID_WORDS = ID_SUFFIXES | _set(
    "uuid guid hash token nummer numero email mail phone telephone tel mobile ip ssn iban passport imei mac index "
    "surname firstname lastname fullname username address street vorname nachname adresse strasse straße nombre "
    "apellido prénom prenom"
)
COORDINATES = _set(
    "lat latitude lon lng longitude lats lons latitud longitud breitengrad längengrad laengengrad coord coords "
    "coordinate coordinates easting northing"
)
PLACE_STARTS = {"latitude": ("lat", "breit"), "longitude": ("lon", "lng", "läng", "laeng")}
"""How a word of the name of a latitude or longitude begins."""
QUASI = _set(
    "postcode postal postalcode zip zipcode zip3 zip5 plz postleitzahl codepostal age agegroup ageband alter edad âge "
    "sex gender geschlecht sexe sexo género birth birthday birthdate birthyear dob yob dateofbirth yearofbirth born "
    "geburtsdatum geburtsjahr geburtstag naissance nacimiento occupation profession job jobtitle beruf profesión "
    "profesion employer ethnicity ethnic race nationality nationalität staatsangehörigkeit nationalité nacionalidad "
    "citizenship religion marital maritalstatus familienstand income salary wage einkommen revenu salaire ingresos "
    "education degree bildung country land pays país pais city town stadt ort wohnort ville ciudad county district "
    "province region municipality gemeinde commune municipio language disability children kinder diagnosis"
)
CODES = _set(
    "zip zipcode postcode postalcode postal plz postleitzahl codepostal code codes icd icd9 icd10 fips nuts isco sic "
    "naics soc ssn phone tel telephone mobile id ids key uuid barcode iban"
)
"""Their digits are no number: 10115 and 10116 need not be neighbours."""
CATEGORIES = _set(
    "sex gender geschlecht sexe sexo race ethnicity ethnic marital maritalstatus familienstand religion nationality "
    "citizenship country state region province county district city occupation industry language relationship "
    "workclass status type class category group"
)
"""Their numbers may be codes, such as 1 and 2 for sex."""
IDS = _set(
    "id rowid recordid rid pid uid uuid guid caseid sampleid respondent respondentid personid subjectid index row "
    "rownumber record recordnumber caseno case seqn serial nr lfdnr laufendenummer"
)
"""They name a row."""
PEOPLE = _set(
    "name fullname firstname lastname surname forename username nickname vorname nachname familyname givenname nombre "
    "apellido prenom prénom"
)
"""They name a person."""
CONTACTS = _set(
    "email mail phone telephone tel mobile address street adresse strasse straße ssn iban passport licence license "
    "imei mac ip url website signature"
)
"""They lead to a person directly."""
SENSITIVE = _set(
    "diagnosis diagnoses diagnose disease illness sickness condition icd icd9 icd10 symptom symptoms medication drug "
    "drugs treatment therapy hiv aids cancer depression mental psychiatric disability addiction alcohol abortion "
    "pregnancy pregnant genetic income salary wage wages earnings pay einkommen gehalt lohn revenu salaire ingresos "
    "debt debts loan loans credit wealth religion religious belief glaube political politics party vote union sexual "
    "orientation sexuality crime criminal conviction offence offense arrest"
)
"""What must not be learned about a person."""
QUASI_IDENTIFIERS = _set("workclass relationship household birthplace native immigrant veteran height")
"""What others may know about a person, besides the names that so.read recognises."""


def name_words(name: str) -> list[str]:
    """Split a name into words."""
    spaced = re.sub(r"(?<=[a-zà-ÿ0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word.lower() for word in re.split(r"[\W_]+", spaced) if word]


def plain_name(name: str) -> str:
    """Name in lower case without spaces and signs."""
    return re.sub(r"[\s_.-]", "", name.lower())


def name_rank(name: str, role: str) -> int | None:
    """How well known a name is for a role, 0 for the best, or None; from 20 on, the cells must fit too."""
    plain = plain_name(name)
    for rank, words in enumerate(EXACT[role]):
        if plain in words:
            return rank
    words_of_name = name_words(name)
    if not words_of_name or is_quasi_identifier(name):
        return None
    if role == "value":
        return FUZZY if words_of_name[-1] in VALUE_WORDS else None
    if role == "time":
        if plain in DATED or OTHER_DATES & {*words_of_name}:
            return DATED.get(plain)
        ends = words_of_name[-1] in TIME_WORDS or words_of_name[0] in FIRST_TIME_WORDS
        return FUZZY if (ends and len(words_of_name) > 1) or plain.endswith(TIME_ENDS) else None
    if role in PLACE_ROLES:
        return FUZZY if words_of_name[-1] in chain(*EXACT[role]) else None
    if len(words_of_name) < 2:
        return None
    nouns = RECORDS if role == "record" else ITEMS  # as in app_user_id, or id_user
    ends_in_id = words_of_name[-1] in ID_SUFFIXES and words_of_name[-2] in nouns
    return FUZZY if ends_in_id or (words_of_name[0] == "id" and words_of_name[1] in nouns) else None


def is_quasi_identifier(name: str) -> bool:
    """Whether a name is that of a quasi-identifier, such as postcode, age or sex."""
    return plain_name(name) in QUASI or not QUASI.isdisjoint(name_words(name))


def is_coordinate_name(name: str) -> bool:
    """Whether a name is that of a latitude or longitude."""
    return not COORDINATES.isdisjoint(name_words(name)) or plain_name(name) in ("long", "x", "y")


def place_roles(name: str) -> list[str]:
    """Roles that a coordinate may have: latitude or longitude by its name, otherwise both."""
    words = name_words(name)
    fitting = [role for role in PLACE_ROLES if any(word.startswith(PLACE_STARTS[role]) for word in words)]
    return fitting if len(fitting) == 1 else list(PLACE_ROLES)


def is_id_name(name: str) -> bool:
    """Whether a name is that of an id, of a person or of an item, or that of a person's name."""
    words = name_words(name)
    if not words:
        return False
    if words[-1] == "name" and (len(words) == 1 or words[-2] in PERSONAL):
        return True
    if words[-1] in ID_WORDS or words[0] == "id" or plain_name(name).endswith(("nummer", "uuid")):
        return True
    ranks = ((name_rank(name, role), known) for role, known in (("record", 4), ("item", 3)))
    return any(rank is not None and rank < known for rank, known in ranks)


def has_id_name(name: str) -> bool:
    """Whether a name is that of the id of a person or a row."""
    if is_quasi_identifier(name):
        return False
    return plain_name(name) in IDS or name_rank(name, "record") is not None or name_words(name)[:1] == ["id"]


def is_code_name(name: str) -> bool:
    """Whether a name is that of a code whose digits are no number, such as a postcode."""
    words = name_words(name)
    return plain_name(name) in CODES or bool(words and (words[-1] in CODES or words[0] in ("zip", "icd")))


def is_category_name(name: str) -> bool:
    """Whether a name is that of categories, which may have numbers as codes, such as sex or age_group."""
    words = name_words(name)
    return plain_name(name) in CATEGORIES or bool(words and words[-1] in CATEGORIES)


def is_person_name(name: str) -> bool:
    """Whether a name is that of people's names or of what leads to them directly, such as an address."""
    words = name_words(name)
    if not words:
        return False
    is_name = plain_name(name) in PEOPLE or (words[-1] == "name" and (len(words) == 1 or words[-2] in PERSONAL))
    return is_name or not CONTACTS.isdisjoint(words)


def default_role(name: str) -> ColumnRole:
    """Role that a column's name suggests."""
    words = {*name_words(name), plain_name(name)}
    if words & SENSITIVE:
        return "sensitive"
    return "quasi-identifier" if is_quasi_identifier(name) or words & QUASI_IDENTIFIERS else "other"


CELLS_DECIDE = 20
"""From this rank on, a name is only well known if the cells fit too."""


def recognise(names: Sequence[str], role: str) -> list[int]:
    """Columns with the best-known names of a role; several if they are known equally well."""
    ranks = [name_rank(name, role) for name in names]
    known = [rank for rank in ranks if rank is not None and (rank < CELLS_DECIDE or role not in ("value", "time"))]
    return [column for column, rank in enumerate(ranks) if known and rank == min(known)]
