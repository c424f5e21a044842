"""Both pages in a real browser: keys, reload, a hostile reply, a phone, dark mode, 2,624 rows."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lm_eval_strict.report.decisions import Decision, DecisionFile, read_decisions
from lm_eval_strict.report.read_run import Run, read_run
from lm_eval_strict.report.reading_cases import all_cases, cases_to_read
from lm_eval_strict.report.report_page import report_page
from lm_eval_strict.report.review_page import review_page
from lm_eval_strict.report.review_server import ReviewServer
from lm_eval_strict.report.summary import summarize_run

pytestmark = pytest.mark.browser

Row = dict[str, Any]
Make = Callable[..., list[Row]]
Write = Callable[[Path, Iterable[Row]], Path]
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with sync_api.sync_playwright() as play:
        made = play.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield made
        made.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open an address; any script error or request to another host fails the test."""
    contexts: list[Any] = []
    bad: list[str] = []

    def opened(address: str, viewport: dict[str, int] = DESKTOP, **settings: Any) -> Any:
        context = browser.new_context(viewport=viewport, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: bad.append(str(error)))
        page.on("dialog", lambda dialog: (bad.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda asked: _note_foreign(asked.url, address, bad))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert bad == []


def _note_foreign(url: str, address: str, bad: list[str]) -> None:
    if not url.startswith((address.split("?")[0], "data:", "blob:")):
        bad.append(f"asked for {url}")


def hostile(rows: list[Row]) -> list[Row]:
    attack = (
        "</script><script>window.hit=1</script><img src=x onerror='window.hit=1'>\\href{javascript:hit=1}{x}"
    )
    for row in rows:
        row["rule"] = attack
        if "answer" in row:
            row["answer"] = row["read_answer"] = attack
        else:
            row["program"] = f"'''{attack}'''\ndef f(): ..."
            row["first_failure"] = {"input": attack, "expected": attack, "got": attack}
    return rows


@pytest.fixture
def math_run(tmp_path: Path, make_math: Make, write: Write) -> Run:
    return read_run([write(tmp_path / "math.jsonl", make_math(1, problems=60))], keep=True)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[Run], str]]:
    servers: list[tuple[ReviewServer, threading.Thread]] = []

    def served(run: Run) -> str:
        path = tmp_path / "d.jsonl"
        cases = cases_to_read(all_cases(run), 0, np.random.default_rng(0))

        def page(known: dict[str, Decision], save_to: str) -> str:
            return review_page(run.label, cases, known, save_to=save_to)

        server = ReviewServer(0, page, DecisionFile(path), read_decisions(path))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        servers.append((server, thread))
        return server.url

    yield served
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


def test_one_key_decides_is_on_disk_at_once_and_survives_a_reload(
    open_page: Callable[..., Any], serve: Callable[[Run], str], math_run: Run, tmp_path: Path
) -> None:
    page = open_page(serve(math_run))
    first = page.locator("#case h2").inner_text()
    for place, key in enumerate("123"):
        with page.expect_response("**/decision") as answered:
            page.keyboard.press(key)
        assert answered.value.ok
        assert len(read_decisions(tmp_path / "d.jsonl")) == place + 1
    assert [one.decision for one in read_decisions(tmp_path / "d.jsonl").values()] == [
        "right",
        "wrong",
        "debatable",
    ]
    assert page.locator("#count").inner_text().startswith("3 of ")
    page.reload()
    assert page.locator("#count").inner_text().startswith("3 of ")
    assert page.locator("#list li.right").count() == 1
    page.keyboard.press("k")
    page.keyboard.press("k")
    page.keyboard.press("k")
    assert page.locator("#case h2").inner_text() == first
    assert page.locator("[data-decision=right]").get_attribute("aria-pressed") == "true"


def test_a_note_is_saved_and_escape_saves_none(
    open_page: Callable[..., Any], serve: Callable[[Run], str], math_run: Run, tmp_path: Path
) -> None:
    page = open_page(serve(math_run))
    page.keyboard.press("n")
    page.locator("#noteText").fill("rounds 1/3 <b>bold</b>")
    with page.expect_response("**/decision"):
        page.locator("#noteSave").click()
    assert page.locator(".note").inner_text() == "rounds 1/3 <b>bold</b>"
    page.keyboard.press("n")
    page.locator("#noteText").fill("not this")
    page.keyboard.press("Escape")
    assert [one.note for one in read_decisions(tmp_path / "d.jsonl").values()] == ["rounds 1/3 <b>bold</b>"]


def test_a_server_that_is_gone_is_told(
    open_page: Callable[..., Any], serve: Callable[[Run], str], math_run: Run
) -> None:
    page = open_page(serve(math_run))
    page.route("**/decision", lambda route: route.abort())
    page.keyboard.press("1")
    page.locator("#saved.failed").wait_for()
    assert "Not saved" in page.locator("#saved").inner_text()


def test_formulas_are_rendered_and_read_texts_shown(
    open_page: Callable[..., Any], serve: Callable[[Run], str], math_run: Run
) -> None:
    page = open_page(serve(math_run))
    assert page.locator(".pair math mfrac").count() >= 1
    assert page.locator(".grader").count() == 4


def test_a_static_page_keeps_decisions_over_a_reload_and_saves_them_to_a_file(
    open_page: Callable[..., Any], math_run: Run, tmp_path: Path
) -> None:
    cases = all_cases(math_run)
    path = tmp_path / "desk.html"
    path.write_text(review_page("run", cases, {}, store="key"), encoding="utf-8")
    page = open_page(path.as_uri(), accept_downloads=True)
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.reload()
    assert page.locator("#count").inner_text().startswith("2 of ")
    with page.expect_download() as download:
        page.locator("#download").click()
    saved = tmp_path / "saved.jsonl"
    download.value.save_as(saved)
    assert sorted(one.decision for one in read_decisions(saved).values()) == ["right", "wrong"]


@pytest.mark.parametrize("kind", ["math", "code"])
def test_a_hostile_reply_runs_no_script_on_either_page(
    open_page: Callable[..., Any], tmp_path: Path, make_math: Make, make_code: Make, write: Write, kind: str
) -> None:
    rows = hostile(make_math(1, problems=4) if kind == "math" else make_code(1, problems=4))
    run = read_run(
        [write(tmp_path / "rows.jsonl", rows)], keep=True, label="<img src=x onerror='window.hit=1'>"
    )
    desk, report = tmp_path / "desk.html", tmp_path / "report.html"
    desk.write_text(review_page(run.label, all_cases(run), {}, store="k"), encoding="utf-8")
    report.write_text(report_page([run], [summarize_run(run, np.random.default_rng(0))]), encoding="utf-8")
    for path in (desk, report):
        page = open_page(path.as_uri())
        assert page.evaluate("window.hit") is None
        assert page.locator("img").count() == 0
        assert page.locator("a[href^=javascript]").count() == 0
    page = open_page(desk.as_uri())
    page.keyboard.press("j")
    assert page.evaluate("window.hit") is None


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_pages_fit_their_screen_in_light_and_dark(
    open_page: Callable[..., Any],
    tmp_path: Path,
    make_code: Make,
    write: Write,
    viewport: dict[str, int],
    scheme: str,
) -> None:
    path = write(
        tmp_path / "a-run-with-a-rather-long-name-as-models-have-them.jsonl", make_code(1, samples=3)
    )
    run = read_run([path], keep=True)
    desk, report = tmp_path / "desk.html", tmp_path / "report.html"
    desk.write_text(review_page(run.label, all_cases(run)[:20], {}, store="k"), encoding="utf-8")
    report.write_text(report_page([run], [summarize_run(run, np.random.default_rng(0))]), encoding="utf-8")
    for page_path in (desk, report):
        page = open_page(page_path.as_uri(), viewport, color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = sum(int(part) for part in ground.removeprefix("rgb(").rstrip(")").split(",")) > 380
        assert light == (scheme == "light")


def test_the_list_opens_and_closes_on_a_phone(
    open_page: Callable[..., Any], serve: Callable[[Run], str], math_run: Run
) -> None:
    page = open_page(serve(math_run), PHONE)
    assert not page.locator("#side").is_visible()
    page.locator("#menu").click()
    page.locator("#list button").nth(2).click()
    assert not page.locator("#side").is_visible()
    assert page.locator("#list button").nth(2).get_attribute("aria-current") == "true"


def test_a_page_of_2624_rows_holds_all_its_cases(
    open_page: Callable[..., Any], tmp_path: Path, make_code: Make, write: Write
) -> None:
    rows = make_code(1, problems=164, samples=16, ability=0.5, pipelines=("base",))
    run = read_run([write(tmp_path / "rows.jsonl", rows)], keep=True)
    cases = all_cases(run)
    path = tmp_path / "desk.html"
    path.write_text(review_page("big", cases, {}, store="k"), encoding="utf-8")
    page = open_page(path.as_uri())
    assert page.locator("#count").inner_text() == f"0 of {len(cases)} decided"
    entries = page.locator("#list li")
    while (before := entries.count()) < len(cases):
        page.evaluate("document.getElementById('list').scrollTop = 1e9")
        page.wait_for_function(
            "before => document.getElementById('list').childElementCount > before", arg=before
        )
    assert entries.count() == len(cases) > 800
    page.keyboard.press("k")
    assert page.locator("#list [aria-current=true]").count() == 1
    assert json.loads(page.locator("#data").inner_text())["title"] == "big"
