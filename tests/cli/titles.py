"""Titles that are hard to type: duplicates, years, = and @, accents, markup, control characters."""

from datetime import date

DAY = date(2005, 3, 1)
TITLES = {
    "1": "Brazil (1985)",
    "2": "Matrix, The (1999)",
    "3": "Bent (1997)",
    "4": "Hamlet (1948)",
    "5": "Hamlet (1996)",
    "6": "E=mc2 (2005)",
    "7": "me@2004-01-01",
    "8": "Seven (a.k.a. Se7en) (1995)",
    "9": "Amélie (2001)",
    "10": "x=4",
    "11": "x",
    "12": "Emma (1996)",
    "13": "EMMA (1996)",
    "17": "",
    "18": "[bold]Up[/bold] :smile:",
    "19": "Grease\x1b[2J\n(1978)",
    "x@2004-12-24": "An id like a fact",
    "20": "Léon (Leon) (1994)",
}
