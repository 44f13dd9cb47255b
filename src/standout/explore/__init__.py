"""The explorer: a local web page on which a person plays the adversary.

`app.create_app` makes the web application, `server.serve` runs it. Read in this order: `exploration` (what is
explored), `requests` (what the page may ask), `answers` (what it gets), `lineups` (lineups, plays, downloads),
`audits`, then `server` (who may ask) and `app` (the routes). Everything is computed by the public library.
"""
