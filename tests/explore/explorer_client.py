"""A client of the explorer for tests: it has the cookie, and sends what the page sends."""

from contextlib import contextmanager

from starlette.testclient import TestClient

from standout.explore.app import create_app
from standout.explore.exploration import Exploration
from standout.explore.server import Site

PORT = 8421
ORIGIN = f"http://127.0.0.1:{PORT}"


class Explorer:
    """The explorer of a release, with the requests of a page."""

    def __init__(self, client, site):
        self.client = client
        self.site = site

    def get(self, path, **headers):
        return self.client.get(path, headers=headers)

    def post(self, path, content, **headers):
        return self.client.post(path, json=content, headers={"origin": ORIGIN, **headers})

    def lineup(self, facts, **settings):
        response = self.post("/api/lineup", {"facts": facts, **settings})
        assert response.status_code == 200, response.text
        return response.json()


@contextmanager
def explorer(release, data="ratings.csv", arguments=(), login=True, audit=None, **settings):
    """Run the explorer without a network."""
    site = Site("127.0.0.1", PORT)
    app = create_app(Exploration(release, data, arguments, **settings), site, audit)
    with TestClient(app, base_url=ORIGIN, raise_server_exceptions=True, follow_redirects=False) as client:
        if login:
            assert client.get(f"/?token={site.token}").status_code == 303
        yield Explorer(client, site)
