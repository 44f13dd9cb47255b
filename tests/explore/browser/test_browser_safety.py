"""Safety of the page: titles are text, nothing leaves the machine, strangers are refused."""

import http.client
import json
from urllib.parse import urlsplit

from playwright.sync_api import expect

from explore.browser.conftest import HOSTILE


def test_hostile_titles_are_text_everywhere(visit):
    seen = visit()
    for item, title in HOSTILE.items():
        seen.page.fill("#search", item)
        option = seen.page.locator("#suggestions bdi").get_by_text(title, exact=True)
        seen.after(option.click)
    assert seen.page.locator(".fact h3 bdi").all_text_contents() == list(HOSTILE.values())
    rows = seen.page.locator("[data-why] .title bdi").all_text_contents()
    assert rows == [*HOSTILE.values(), "Total score"]
    assert seen.page.locator("main img, main b, main script").count() == 0
    assert seen.page.evaluate("getComputedStyle(document.querySelector('.fact bdi')).unicodeBidi") == "isolate"
    assert not seen.complaints
    assert all(url.startswith(("http://127.0.0.1:", "data:,")) for url in seen.requests)


def test_the_page_talks_to_its_own_server_only_and_does_not_complain(visit, server):
    seen = visit()
    seen.add("Film 20")
    seen.after(lambda: seen.page.get_by_role("radio", name="Both").check())
    seen.after(lambda: seen.page.click("#random-again"))
    assert not seen.complaints
    assert all(url.startswith(server.base) or url == "data:," for url in seen.requests)
    assert not any("Film" in url.partition("/api/items")[0] for url in seen.requests)


def test_the_policy_forbids_inline_code(visit):
    seen = visit()
    seen.page.evaluate(
        """() => { const script = document.createElement("script"); script.textContent = "window.ran = 1";
                   document.body.append(script); document.body.setAttribute("style", "color: red"); }"""
    )
    assert seen.page.evaluate("window.ran") is None
    assert seen.page.evaluate("getComputedStyle(document.body).color") != "rgb(255, 0, 0)"
    assert len(seen.complaints) == 2 and all("Content Security Policy" in text for text in seen.complaints)


def status(server, method, path, headers, body=None):
    """Status of a request whose headers are exactly these."""
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(server.base).port, timeout=20)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    content = json.dumps(body).encode() if body is not None else b""
    if body is not None:
        headers = {**headers, "Content-Type": "application/json", "Content-Length": str(len(content))}
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders(content)
    answer = connection.getresponse().status
    connection.close()
    return answer


def test_foreign_hosts_and_origins_and_missing_tokens_are_refused(visit, server):
    seen = visit()
    (cookie,) = seen.page.context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    own = {"Host": urlsplit(server.base).netloc, "Cookie": f"{cookie['name']}={cookie['value']}"}
    origin = {"Origin": server.base.rstrip("/")}
    assert status(server, "POST", "/api/lineup", own | origin, {"facts": []}) == 200
    assert status(server, "GET", "/api/release", own) == 200
    assert status(server, "GET", "/api/release", own | {"Host": "attacker.example"}) == 403
    assert status(server, "POST", "/api/lineup", own | {"Origin": "http://attacker.example"}, {"facts": []}) == 403
    assert status(server, "POST", "/api/lineup", own, {"facts": []}) == 403
    assert status(server, "GET", "/api/release", {"Host": own["Host"]}) == 403
    assert status(server, "GET", "/?token=wrong", {"Host": own["Host"]}) == 403


def test_a_page_without_the_cookie_and_a_page_of_another_site_get_nothing(browser, visit, server):
    seen = visit()
    stranger = browser.new_context()
    page = stranger.new_page()
    assert page.goto(server.base).status == 403
    stranger.close()
    foreign = seen.page.context.new_page()
    foreign.goto(server.base.replace("127.0.0.1", "localhost"))
    reached = foreign.evaluate(
        """address => fetch(address + "api/release", {credentials: "include"})
            .then(() => "read", () => "refused")""",
        server.base,
    )
    assert reached == "refused"


def test_a_stopped_server_is_reported_in_one_sentence_and_ends_without_an_error(visit, start):
    mine = start()
    seen = visit(at=mine)
    seen.add("Film 20")
    assert mine.stop() == 0
    seen.page.check("#show-ids")
    expect(seen.page.locator("#trouble")).to_contain_text("The server does not answer")
    assert seen.page.locator(".fact").count() == 1
