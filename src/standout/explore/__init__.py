"""The explorer: a local web page on which a person plays the adversary.

`app.create_app` makes the web application, `server.serve` runs it. Read in this order: `requests` (what the page may
ask), `exploration` (lineups, plays, downloads), then `server` (who may ask) and `app` (the routes and the audit).
Everything is computed by the public library.
"""
