"""Words in the names of columns that say what a column is: a code, a category, an id, something sensitive."""

__all__ = ["CATEGORIES", "CODES", "CONTACTS", "IDS", "PEOPLE", "QUASI_IDENTIFIERS", "SENSITIVE"]


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


CODES = _words(
    "zip zipcode postcode postalcode postal plz postleitzahl codepostal code codes icd icd9 icd10 fips nuts",
    "isco sic naics soc ssn phone tel telephone mobile id ids key uuid barcode iban",
)
"""Their digits are no number: 10115 and 10116 need not be neighbours."""

CATEGORIES = _words(
    "sex gender geschlecht sexe sexo race ethnicity ethnic marital maritalstatus familienstand religion",
    "nationality citizenship country state region province county district city occupation industry",
    "language relationship workclass status type class category group",
)
"""Their numbers may be codes, such as 1 and 2 for sex."""

IDS = _words(
    "id rowid recordid rid pid uid uuid guid caseid sampleid respondent respondentid personid subjectid",
    "index row rownumber record recordnumber caseno case seqn serial nr lfdnr laufendenummer",
)
"""They name a row."""

PEOPLE = _words(
    "name fullname firstname lastname surname forename username nickname vorname nachname familyname",
    "givenname nombre apellido prenom prénom",
)
"""They name a person."""

CONTACTS = _words(
    "email mail phone telephone tel mobile address street adresse strasse straße ssn iban passport",
    "licence license imei mac ip url website signature",
)
"""They lead to a person directly."""

SENSITIVE = _words(
    "diagnosis diagnoses diagnose disease illness sickness condition icd icd9 icd10 symptom symptoms",
    "medication drug drugs treatment therapy hiv aids cancer depression mental psychiatric disability",
    "addiction alcohol abortion pregnancy pregnant genetic income salary wage wages earnings pay",
    "einkommen gehalt lohn revenu salaire ingresos debt debts loan loans credit wealth religion religious",
    "belief glaube political politics party vote union sexual orientation sexuality crime criminal",
    "conviction offence offense arrest",
)
"""What must not be learned about a person."""

QUASI_IDENTIFIERS = _words("workclass relationship household birthplace native immigrant veteran height")
"""What others may know about a person, besides the names that so.read recognises."""
