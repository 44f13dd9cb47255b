"""Nobody gets an answer but the page that was opened with the token."""

import pytest
from explorer_client import ORIGIN, PORT, explorer

from standout.explore.server import SECURITY_HEADERS, Site

pytestmark = pytest.mark.once
PATHS = ("/", "/audit", "/static/audit.js", "/api/release", "/api/items?q=1", "/nothing", "/api/nothing")


@pytest.fixture(scope="module")
def stranger(release):
    with explorer(release, login=False) as opened:
        yield opened


def assert_refused(response, status=403):
    assert response.status_code == status
    assert response.text.strip() and "Traceback" not in response.text
    for name, value in SECURITY_HEADERS.items():
        assert response.headers[name] == value
    assert not [name for name in response.headers if name.startswith("access-control")]


def test_nothing_is_answered_without_the_cookie(stranger):
    for path in PATHS:
        assert_refused(stranger.get(path))
        assert_refused(stranger.post("/api/lineup", {"facts": []}))


@pytest.mark.parametrize("token", ["", "x", "é", "%ff", "{token}x", "{lower}"])
def test_a_wrong_token_is_refused(stranger, token):
    right = stranger.site.token
    response = stranger.get(f"/?token={token.format(token=right, lower=right[:-1])}")
    assert_refused(response)
    assert "set-cookie" not in response.headers


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(release):
    with explorer(release, login=False) as page:
        response = page.get(f"/?token={page.site.token}")
        assert response.status_code == 303 and response.headers["location"] == "/"
        name, *flags = [part.strip() for part in response.headers["set-cookie"].split(";")]
        assert name == f"standout-explore-{PORT}={page.site.session}"
        assert {flag.lower() for flag in flags} == {"httponly", "path=/", "samesite=strict"}
        assert page.site.token not in response.text + str(dict(response.headers))
        assert page.get("/api/release").status_code == 200


@pytest.mark.parametrize("cookie", ["", "x", "standout-explore-8421=", "standout-explore-8421=x", "a=b; ;;=", "é=1"])
def test_a_wrong_cookie_is_refused(stranger, cookie):
    assert_refused(stranger.client.get("/api/release", headers={"cookie": cookie.encode("latin-1")}))


def test_cookies_of_other_servers_lock_nobody_out(release):
    for others in ['a={"x": [1, 2]}; {}', "{}; a b=1", "é=1; {}", 'a="; {}', "x; {}", "{name}=x; {}", "{}; {name}=x"]:
        with explorer(release) as page:
            name = page.site.cookie
            cookie = others.replace("{}", f"{name}={page.site.session}").replace("{name}", name)
            page.client.cookies.clear()
            assert page.get("/api/release", cookie=cookie.encode("latin-1")).status_code == 200


def test_an_address_for_the_browser_works_once(release):
    with explorer(release, login=False) as page:
        address = page.site.launch_address().removeprefix(ORIGIN)
        assert page.get(address).status_code == 303
        assert_refused(page.get(address))


def test_a_foreign_host_is_refused_even_with_cookie_and_token(page):
    for host in [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"localhost.evil:{PORT}",
        "",
        f"127.0.0.1:{PORT}.evil",
    ]:
        assert_refused(page.get("/api/release", host=host))
        assert_refused(page.get(f"/?token={page.site.token}", host=host))


@pytest.mark.parametrize("host", [f"localhost:{PORT}", f"127.0.0.1:{PORT}", f"[::1]:{PORT}", f"LOCALHOST:{PORT}"])
def test_the_names_of_this_machine_are_admitted(page, host):
    cookie = f"standout-explore-{PORT}={page.site.session}"
    assert page.get("/api/release", host=host, cookie=cookie).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", f"https://127.0.0.1:{PORT}", "http://127.0.0.1", f"http://localhost:{PORT}"],
)
def test_a_foreign_origin_is_refused(page, origin):
    assert_refused(page.post("/api/lineup", {"facts": []}, origin=origin))
    assert_refused(page.get("/api/release", origin=origin))


def test_a_post_without_an_origin_is_refused(page):
    assert_refused(page.client.post("/api/lineup", json={"facts": []}))


@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
def test_requests_of_other_sites_are_refused(page, site):
    assert_refused(page.get("/api/release", **{"sec-fetch-site": site}))
    assert_refused(page.post("/api/lineup", {"facts": []}, **{"sec-fetch-site": site}))


def test_other_methods_are_not_allowed(page):
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "NONSENSE"]:
        response = page.client.request(method, "/api/release", headers={"origin": ORIGIN})
        assert_refused(response, 405)
        assert response.headers["allow"] == "GET, HEAD, POST"


def test_head_is_get_without_a_body(page):
    response = page.client.head("/api/release")
    assert response.status_code == 200 and response.content == b""


@pytest.mark.parametrize("path", ["/api/release", "/audit", "/static/audit.js", "/nothing", "/api/items?count=x"])
def test_every_response_has_the_security_headers(page, path):
    response = page.get(path)
    for name, value in SECURITY_HEADERS.items():
        assert response.headers[name] == value
    assert "unsafe" not in response.headers["content-security-policy"]
    assert not [name for name in response.headers if name.startswith("access-control")]


def test_a_web_socket_is_closed(page):
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), page.client.websocket_connect("/"):
        pass


def test_only_files_of_the_list_are_served(page):
    for path in [
        "/static/",
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/..%5capp.py",
        "/static/audit.js/",
        "/static/audit.js%00",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/audit/charts/..%2f..%2fapp.svg",
        "/static",
    ]:
        assert page.get(path).status_code == 404


def test_off_loopback_a_host_may_be_any_address_but_no_foreign_name():
    site = Site("0.0.0.0", 80)
    assert site.admits_host("192.168.1.7:80") and site.admits_host("localhost") and site.admits_host("[::1]:80")
    assert not site.admits_host("evil.example:80") and not site.admits_host("192.168.1.7:81")
    named = Site("fileserver", PORT)
    assert named.admits_host(f"fileserver:{PORT}") and not named.admits_host(f"127.0.0.1:{PORT}")


def test_the_main_page_is_served_without_inline_scripts_or_styles(page):
    response = page.get("/")
    assert response.status_code == 200 and response.headers["content-type"] == "text/html; charset=utf-8"
    assert "style=" not in response.text and "<style" not in response.text and "<script>" not in response.text


def test_a_hostile_name_of_the_data_is_text(release):
    name = "<script>alert(1)</script>{{ 7 * 7 }}\u202e\x1b[2J"
    with explorer(release, name=name) as page:
        for path in ("/", "/audit"):
            text = page.get(path).text
            assert "<script>alert" not in text and "{{ 7 * 7 }}" in text
            assert "\u202e" not in text and "\x1b" not in text


def test_an_unexpected_error_is_one_sentence_without_details(release, monkeypatch, caplog):
    import standout.explore.app as app

    def fail(*_):
        raise KeyError("a secret cell")

    monkeypatch.setattr(app, "answer_lineup", fail)
    with explorer(release) as page:
        page.client._transport.raise_server_exceptions = False
        response = page.post("/api/lineup", {"facts": []})
    assert_refused(response, 500)
    assert response.json() == {"error": "An error of Standout itself: please report it."}
    assert "KeyError" in caplog.text and "secret" not in caplog.text
