"""A learner's way through every lesson, in a real JupyterLab: `make browser-test`, or skipped where there is no browser."""

import itertools
import json
import os
import platform
import re

import pytest
from browser import FLAGS, ROOT, Notebook, Server

from helpers.course import LESSONS
from helpers.feedback.registry import get, get_prediction
from helpers.feedback.twins import twins_of

pytestmark = pytest.mark.browser

# One wrong answer a lesson, each another mistake: what a learner types, and what the page must say.
ATTEMPTS = {
    "00": ("0.1", {"not-divided"}),
    "01": ("1.2", {"sharpness-after-exp"}),
    "02": ("2.2", {"divide-by-d_k", "softmax-over-queries"}),
    "03": ("3.2", None),
    "04": ("4.1", None),
    "05": ("5.2", None),
    "06": ("6.5", None),
    "07": ("7.1", None),
    "08": ("8.1", {"out-not-rescaled"}),
    "09": ("9.1", {"eps-outside-root"}),
    "10": ("10.1", {"not-transposed"}),
}
# Lessons that compute for long: here they are run up to the exercise, and to the end with nbval.
LONG = ("03", "04", "05", "06", "07", "08", "09", "10") if "ATTENTION_COURSE_CLAIMS" not in os.environ else ()
THERE = [lesson for lesson in LESSONS if (ROOT / "notebooks" / f"{lesson.slug}.ipynb").exists()]
# Whether there is something to save after the kernel said what it is, which the notebook then notes.
CHANGED = """async () => {
    const panel = window.jupyterapp.shell.currentWidget;
    await panel.sessionContext.session.kernel.info;
    await new Promise(noted => setTimeout(noted, 300));
    return panel.context.model.dirty;
}"""
each_lesson = pytest.mark.parametrize("lesson", THERE, ids=[lesson.number for lesson in THERE])


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("lab"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def browser(browser_path):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(browser):
    """The page that shows JupyterLab, in a list that is empty before the first test and after one that failed."""
    return []


@pytest.fixture
def open_notebook(server, browser, pages, request):
    """Opens a notebook in the page that the test before left; loading JupyterLab anew takes most of a test's time."""
    failed_before, opened = request.session.testsfailed, []

    def open_it(path):
        if not pages:
            pages.append(browser.new_page())
        pages[0].set_viewport_size({"width": 1300, "height": 1000})
        opened.append(Notebook(pages[0], server, path))
        return opened[-1]

    yield open_it
    for notebook in opened:
        notebook.close()
    if request.session.testsfailed > failed_before:
        pages.pop().close()


def wrong_answer(lesson):
    """Source of a cell with a mistake in it, and the messages it must bring up."""
    id, mistakes = ATTEMPTS[lesson.number]
    mistakes = frozenset(mistakes or {get(id).mistakes[0].id})
    source = f'@exercise("{id}")\n{twins_of(get(id)).source(mistakes)}'
    messages = [mistake.message for mistake in get(id).mistakes if mistake.id in mistakes]
    return id, source, messages


def bare(text):
    """Letters only, small: what is left of a sentence however it is rendered."""
    return re.sub(r"[^a-z]+", "", text.lower())


@each_lesson
def test_learner_walks_through_the_lesson(lesson, open_notebook):
    notebook = open_notebook(f"notebooks/{lesson.slug}.ipynb")
    nothing_is_changed_by_opening_or_a_double_click(notebook, lesson)
    hints_unfold(notebook, lesson)
    if lesson.number in LONG:
        notebook.run_up_to(notebook.exercise_cells()[ATTEMPTS[lesson.number][0]])
    else:
        notebook.run_all_through_the_menu()
    everything_ran_and_nothing_is_solved(notebook, lesson)
    a_click_records_a_guess_and_the_next_cell_reveals_it(notebook, lesson)
    wrong_then_right(notebook, lesson)
    assert notebook.errors == []
    solution_opens_at_its_heading(notebook, lesson)
    one_lesson_back_and_on_again(notebook, lesson)


def nothing_is_changed_by_opening_or_a_double_click(notebook, lesson):
    stored = json.loads((ROOT / "notebooks" / f"{lesson.slug}.ipynb").read_text(encoding="utf-8"))
    if stored["metadata"]["language_info"]["version"] == platform.python_version():  # the kernel's own metadata
        assert not notebook.page.evaluate(CHANGED)
    title = notebook.show(notebook.cells()[0]["id"])
    title.locator("h1").dblclick()
    assert title.locator("h1").is_visible() and title.locator(".cm-content:visible").count() == 0


def text_above(notebook, exercise_id):
    """Id of the Markdown cell that states an exercise."""
    return notebook.cells()[notebook.index(notebook.exercise_cells()[exercise_id]) - 1]["id"]


def hints_unfold(notebook, lesson):
    text = notebook.show(text_above(notebook, lesson.exercises[0].id))
    assert text.locator("details[open]").count() == 0
    for hint in text.locator("details").all():
        hint.locator("summary").click()
    assert text.locator("details[open]").count() >= 2


def everything_ran_and_nothing_is_solved(notebook, lesson):
    for cell in notebook.cells():
        assert all(output["output_type"] != "error" for output in cell["outputs"]), cell["id"]
        html = "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell["outputs"])
        assert all(re.search(r'alt="[^"]{10,}"', tag) for tag in re.findall(r"<img[^>]*>", html)), cell["id"]
    exercises = notebook.exercise_cells()
    assert list(exercises) == [info.id for info in lesson.exercises]
    ran = {cell["id"] for cell in notebook.cells() if cell.get("count")}
    for id, cell in exercises.items():
        assert cell in ran or lesson.number in LONG and id != ATTEMPTS[lesson.number][0]
        assert cell not in ran or "Not attempted yet" in notebook.rendered(cell), id


def prediction_cells(notebook):
    """(id of the cell that asks, id of the next code cell, name) for every prediction of the notebook."""
    code = [cell for cell in notebook.cells() if cell["type"] == "code"]
    return [
        (cell["id"], following["id"], name)
        for cell, following in itertools.pairwise(code)
        for name in re.findall(r'^predict\("([^"]+)"', cell["source"], re.MULTILINE)
    ]


def a_click_records_a_guess_and_the_next_cell_reveals_it(notebook, lesson):
    ran = {cell["id"] for cell in notebook.cells() if cell.get("count")}
    found = [p for p in prediction_cells(notebook) if get_prediction(p[2]).choices and p[1] in ran]
    assert found or lesson.number in LONG
    for asks, reveals, name in found[:1]:
        asked = get_prediction(name)
        wrong = next(choice for choice in asked.choices if choice != asked.answer)
        assert "there was no guess" in notebook.rendered(reveals)
        for choice, sign in ((wrong, f"≈ prediction: you said “{wrong}”"), (asked.answer, "✓ prediction: yes")):
            button = notebook.show(asks).locator(".widget-toggle-button", has_text=re.compile(f"^{re.escape(choice)}$"))
            button.first.click()
            notebook.wait_until_idle()
            shown = notebook.rendered(asks)
            assert f"you say “{choice}”" in shown and asked.why not in shown
            notebook.run(reveals)
            assert sign in notebook.rendered(reveals)


def wrong_then_right(notebook, lesson):
    id, source, messages = wrong_answer(lesson)
    cell = notebook.exercise_cells()[id]
    notebook.type_and_run(cell, source)
    shown = bare(notebook.rendered(cell))
    for message in messages:
        assert bare(message.split("{")[0])[:80] in shown
    assert bare("the cells below use the course's version") in shown
    notebook.type_and_run(cell, notebook.solution_source(id))
    assert f"✓ Right · {id}" in notebook.rendered(cell)


def solution_opens_at_its_heading(notebook, lesson):
    last = lesson.exercises[-1]
    notebook.show(text_above(notebook, last.id)).locator("a", has_text="Solution").click()
    notebook.wait_until_open(f"solutions/{lesson.slug}_solution.ipynb")
    heading = notebook.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) h3", has_text=f"Exercise {last.id}").first
    heading.wait_for(state="visible", timeout=240_000)
    # What is drawn late above it may push the heading itself out at the top; the exercise stays on the screen.
    cell = heading.locator("xpath=ancestor::*[contains(concat(' ', @class, ' '), ' jp-Cell ')]").last
    top = notebook.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer").first.bounding_box()["y"]
    notebook.wait_until(
        lambda: (box := cell.bounding_box()) and box["y"] <= 900 and box["y"] + box["height"] >= top + 50
    )


def one_lesson_back_and_on_again(notebook, lesson):
    place = LESSONS.index(lesson)
    if place == 0:
        return
    notebook.command("docmanager:open", {"path": f"notebooks/{lesson.slug}.ipynb"})
    notebook.wait_until_open(f"notebooks/{lesson.slug}.ipynb")
    for other in (LESSONS[place - 1], lesson):
        link = f"a[href*='{other.slug}'], a[data-commandlinker-args*='{other.slug}']"
        notebook.show(notebook.cells()[-1]["id"]).locator(link).first.click()
        notebook.wait_until_open(f"notebooks/{other.slug}.ipynb")


def luminance(colour):
    channels = [int(c) / 255 for c in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


TEXTS_WITH_BACKGROUND = """root => {
    const numbers = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
    const ground = element => {  // what shows through the tints above each other, down to the first that is opaque
        const layers = [];
        for (let e = element; e; e = e.parentElement) {
            const [r, g, b, alpha = 1] = numbers(getComputedStyle(e).backgroundColor);
            if (alpha > 0) layers.push([r, g, b, alpha]);
            if (alpha === 1) break;
        }
        let seen = [255, 255, 255];
        for (const [r, g, b, alpha] of layers.reverse())
            seen = [r, g, b].map((c, i) => alpha * c + (1 - alpha) * seen[i]);
        return `rgb(${seen.map(Math.round).join(', ')})`;
    };
    return [...root.querySelectorAll('*')].filter(
        e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())).map(
        e => [e.textContent.trim().slice(0, 40), getComputedStyle(e).color, ground(e)]);
}"""


def test_reports_are_readable_in_both_themes(open_notebook):
    lesson = next(lesson for lesson in LESSONS if lesson.number == "02")
    notebook = open_notebook(f"notebooks/{lesson.slug}.ipynb")
    id, source, _ = wrong_answer(lesson)
    cell = notebook.exercise_cells()[id]
    notebook.run_up_to(cell)
    try:
        for theme in ("JupyterLab Dark", "JupyterLab Light"):
            notebook.command("apputils:change-theme", {"theme": theme})
            notebook.page.locator(f"body[data-jp-theme-name='{theme}']").wait_for(state="attached")
            notebook.type_and_run(cell, source)
            report = notebook.show(cell).locator(".jp-OutputArea-output").first
            for part in report.locator("summary").all():
                part.click()
            texts = report.evaluate(TEXTS_WITH_BACKGROUND)
            assert len(texts) > 20
            for text, ink, paper in texts:
                light, dark = sorted((luminance(ink), luminance(paper)), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (theme, text, ink, paper)
    finally:
        notebook.command("apputils:change-theme", {"theme": "JupyterLab Light"})


def test_slider_moves_and_the_picture_follows(open_notebook):
    notebook = open_notebook("notebooks/01_query_key_value.ipynb")
    cell = "slider"
    notebook.run_up_to(cell)
    shown = notebook.show(cell)
    shown.locator(".noUi-handle").wait_for(state="visible")
    before, value = notebook.pictures(cell), shown.locator(".widget-readout").inner_text()
    shown.locator(".noUi-handle").focus()
    for _ in range(3):
        notebook.page.keyboard.press("ArrowRight")
    notebook.wait_until(lambda: shown.locator(".widget-readout").inner_text() != value)
    notebook.wait_until(lambda: notebook.pictures(cell) not in ([], before))
    assert before and notebook.pictures(cell) != before


def test_a_guess_without_quotes_is_understood(open_notebook):
    notebook = open_notebook("notebooks/01_query_key_value.ipynb")
    asks, reveals, name = next(p for p in prediction_cells(notebook) if p[2] == "who-does-is-find")
    notebook.run_up_to(reveals)
    for typed in ("both alike", "books"):  # no Python at all, and a variable of the lesson
        notebook.type_and_run(asks, f'predict("{name}", {typed})')
        assert f"you say “{typed}”" in notebook.rendered(asks) and "Error" not in notebook.rendered(asks)
    notebook.run(reveals)
    assert "≈ prediction: you said “books”; it is “shelf”" in notebook.rendered(reveals)


def test_own_design_changes_the_picture_below(open_notebook):
    notebook = open_notebook("notebooks/01_query_key_value.ipynb")
    design, below = notebook.exercise_cells()["1.5"], "design-tried"
    notebook.run_up_to(below)
    before = notebook.pictures(below)
    own = "@exercise('1.5')\n" + get("1.5").alternatives[0].replace("* 9", "* 6")
    notebook.type_and_run(design, own.replace("'1.5'", '"1.5"'))
    assert "✓ Right · 1.5" in notebook.rendered(design)
    notebook.run(below)
    assert before and notebook.pictures(below) != before


def test_compare_and_progress_are_drawn_as_tables(open_notebook):
    notebook = open_notebook("notebooks/00_start_here.ipynb")
    notebook.run_all_through_the_menu()
    cell = notebook.exercise_cells()["0.1"]
    notebook.type_and_run(cell, notebook.solution_source("0.1").replace(" / np.sum(weights)", ""))
    calls = {
        name: next(c["id"] for c in notebook.cells() if c["type"] == "code" and f"{name}(" in c["source"])
        for name in ("compare", "progress")
    }
    notebook.run(calls["compare"])
    for width, beside in ((1100, False), (1400, True)):  # a laptop, and a wide screen
        notebook.page.set_viewport_size({"width": width, "height": 800})
        shown = notebook.show(calls["compare"])
        assert shown.locator(".course-compare-wide").is_visible() is beside
        assert shown.locator(".course-compare-narrow").is_visible() is not beside
        text = notebook.rendered(calls["compare"])
        assert "solution" in text and (("≠" in text) if beside else ("only in yours" in text))
    notebook.type_and_run(cell, notebook.solution_source("0.1"))
    notebook.run(calls["progress"])
    assert "1 of 1" in notebook.rendered(calls["progress"])
    notebook.show(calls["progress"]).locator("summary").click()
    assert re.search(r"✓\s+0\.1", notebook.rendered(calls["progress"]))


def test_work_is_still_there_after_saving_and_reloading_and_no_news_pop_up(open_notebook, server):
    path = "notebooks/00_start_here.ipynb"
    notebook = open_notebook(path)
    cell = notebook.exercise_cells()["0.1"]
    mine = '@exercise("0.1")\ndef weighted_average(values, weights):\n    return np.average(values, weights=weights)  # mine'
    notebook.run_all_through_the_menu()
    notebook.type_and_run(cell, mine)
    notebook.command("docmanager:save")
    notebook.page.reload()
    notebook.wait_until_ready(path)
    assert notebook.cells()[notebook.index(cell)]["source"] == mine
    assert "✓ Right · 0.1" in notebook.rendered(cell)
    kept = json.loads((server.course / path).read_text(encoding="utf-8"))
    assert any("# mine" in "".join(c["source"]) for c in kept["cells"])
    notebook.page.wait_for_timeout(3000)
    assert notebook.page.locator(".Toastify__toast").count() == 0
