"""What can be checked of the lessons by machine: form, links, pictures, and that the two folders agree.

That the cells run and give the stored outputs is nbval's part (see pyproject.toml).
"""

import ast
import base64
import html
import io
import json
import re
import subprocess
import sys
import tokenize
from pathlib import Path
from statistics import median
from urllib.parse import unquote

import nbformat
import pytest

from helpers.course import LESSONS
from helpers.feedback.exercise import Prediction
from helpers.feedback.registry import get, get_prediction
from helpers.feedback.sources import exercise_number, has_code
from tools import make_lessons

ROOT = Path(__file__).resolve().parent.parent
PATHS = sorted((ROOT / "solutions").glob("*.ipynb"))
LESSON_NAME = re.compile(r"\d\d_\w+\.ipynb")  # what a learner adds or keeps in notebooks/ is theirs

HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*$", re.MULTILINE)
EXERCISE_HEADING = re.compile(r"^### Exercise (\d+\.\d+) · (.+) ([★☆]{3}) (\d+) min$", re.MULTILINE)
LINK = re.compile(r"\]\(((?:[^()\s]|\([^()\s]*\))+)\)")
IMAGE = re.compile(r"<img\b[^>]*>")

AMERICAN = re.compile(
    r"\b(\w*(color|neighbor|behavior|favor|honor|flavor)\w*|center(s|ed|ing)?|gray\w*|math|catalog|analyz\w+|"
    r"model(ed|ing)|label(ed|ing)|cancel(ed|ing)|"
    r"\w*(normal|organ|optim|general|visual|initial|recogn|summar|emphas|real|vector|token|factor|regular|memor|"
    r"minim|maxim|special|util|random|standard|penal|character)iz(e|es|ed|er|ers|ing|ation|ations))\b",
    re.IGNORECASE,
)


def read(path):
    return nbformat.read(path, as_version=4)


def entry(path):
    """The lesson's line in the course table."""
    return next(lesson for lesson in LESSONS if lesson.slug == path.stem.removesuffix(make_lessons.SOLUTION))


def code_cells(nb):
    return [cell for cell in nb.cells if cell.cell_type == "code"]


def text_cells(nb):
    return [cell for cell in nb.cells if cell.cell_type == "markdown"]


def whole_text(nb):
    """The Markdown of all text cells."""
    return "\n\n".join(cell.source for cell in text_cells(nb))


def outputs(nb):
    """(cell id, output) of every stored output."""
    return [(cell.id, output) for cell in code_cells(nb) for output in cell.outputs]


def without_code(text):
    """Markdown without fenced blocks and code spans."""
    return re.sub(r"`[^`]*`", " ", re.sub(r"^```.*?^```", " ", text, flags=re.DOTALL | re.MULTILINE))


def prose(text):
    """Markdown without code, formulas, images, tags, the targets of links, and links to other sites."""
    text = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", " ", without_code(text), flags=re.DOTALL)
    text = re.sub(r"!?\[[^\]]*\]\(https?:[^)]*\)|!(?=\[)|<!--.*?-->|<[^>]+>", " ", text, flags=re.DOTALL)
    return LINK.sub("]", text)


def exercise_cells(nb):
    """(number, position, syntax tree) of every exercise cell."""
    trees = [(i, ast.parse(cell.source)) for i, cell in enumerate(nb.cells) if cell.cell_type == "code"]
    return [(number, i, tree) for i, tree in trees if (number := exercise_number(tree))]


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def path(request):
    """The file of one solution; every test that asks for it, or for `nb`, runs once a lesson."""
    return request.param


@pytest.fixture
def nb(path):
    return read(path)


# --- two folders, one lesson -------------------------------------------------------------------


def test_there_are_lessons():
    assert PATHS, "solutions/ holds no notebook"


def test_lesson_folders_agree_on_what_there_is():
    lessons = {path.name for path in (ROOT / "notebooks").glob("*.ipynb") if LESSON_NAME.fullmatch(path.name)}
    assert lessons == {make_lessons.lesson_name(path) for path in PATHS}


def test_lesson_agrees_with_its_solution(path):
    expected = make_lessons.lesson_from_solution(make_lessons.read_notebook(path), path.name)
    found = (ROOT / "notebooks" / make_lessons.lesson_name(path)).read_text(encoding="utf-8")
    assert found == make_lessons.notebook_text(expected), (
        f"notebooks/{make_lessons.lesson_name(path)} is not what solutions/{path.name} gives. If you are taking the course, your answers "
        "in it are the reason and all is well; if you changed the solution, run `make lessons`."
    )


def test_lesson_is_stored_without_outputs_counts_and_foreign_kernels(path):
    lesson = read(ROOT / "notebooks" / make_lessons.lesson_name(path))
    assert not outputs(lesson)
    assert all(cell.execution_count is None for cell in code_cells(lesson))
    assert lesson.metadata.kernelspec.name == "python3"
    assert "widgets" not in lesson.metadata


def test_solution_is_a_valid_notebook_for_any_machine(path, nb):
    nbformat.validate(nb)
    assert nb.metadata == make_lessons.NOTEBOOK_METADATA
    stored = path.read_text(encoding="utf-8")
    assert not [trace for trace in (str(ROOT), str(Path.home()), "ipykernel_") if trace in stored]


def test_solution_was_executed_from_top_to_bottom_in_a_fresh_kernel(nb):
    counts = [cell.execution_count for cell in code_cells(nb)]
    assert counts == list(range(1, len(counts) + 1)), "run `make solutions`"


def test_only_cells_meant_to_raise_stored_an_error(nb):
    raised = {id for id, output in outputs(nb) if output.output_type == "error"}
    assert raised == {cell.id for cell in nb.cells if "raises-exception" in cell.metadata.get("tags", [])}


def test_no_widget_is_stored(nb):
    assert not [id for id, output in outputs(nb) if any("widget" in kind for kind in output.get("data", {}))]


@pytest.mark.parametrize("folder", ["notebooks", "solutions"])
def test_no_cell_of_a_learner_holds_a_mark_for_maintainers(path, folder):
    # What varies carries the tag nbval-ignore-output; nothing of it stands on the page.
    name = path.name if folder == "solutions" else make_lessons.lesson_name(path)
    for cell in read(ROOT / folder / name).cells:
        assert not re.search(r"NBVAL|PYTEST|noqa|fmt: ?(skip|off|on)|type: ?ignore", cell.source), cell.id
        assert set(cell.metadata.get("tags", [])) <= {"nbval-ignore-output", "raises-exception"}, cell.id


def test_solution_cannot_be_mistaken_for_the_lesson(path, nb):
    lesson = make_lessons.lesson_name(path)
    title, _, banner, *_ = nb.cells[0].source.split("\n")
    assert path.stem.endswith("_solution") and title.endswith(" · solution")
    assert banner.startswith("> This is the complete lesson") and "Nothing that you run here is recorded" in banner
    assert f"(../notebooks/{lesson})" in banner
    opening = read(ROOT / "notebooks" / lesson).cells[0].source
    assert "solution" not in opening and "complete lesson" not in opening


def test_lesson_opens_as_unsaved_or_shows_its_source_on_a_double_click(path):
    lesson = read(ROOT / "notebooks" / make_lessons.lesson_name(path))
    assert lesson.metadata == make_lessons.NOTEBOOK_METADATA
    assert all(cell.metadata.editable is cell.metadata.deletable is False for cell in text_cells(lesson))
    assert not [cell.id for cell in code_cells(lesson) if "editable" in cell.metadata]


def test_metadata_of_lessons_are_what_the_kernel_writes():
    from jupyter_client.kernelspec import get_kernel_spec

    # In a process of its own: a kernel that was made here would make all later tests believe they ran in a notebook.
    code = "import json\nfrom ipykernel.ipkernel import IPythonKernel\nprint(json.dumps(IPythonKernel().language_info))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    language = json.loads(run.stdout)
    stored = make_lessons.NOTEBOOK_METADATA
    assert language.pop("version").rsplit(".", 1)[0] >= "3.11"
    assert {key: value for key, value in stored["language_info"].items() if key != "version"} == {
        key: language[key] for key in stored["language_info"] if key != "version"
    } | {"codemirror_mode": {"name": "ipython", "version": 3}}
    assert stored["kernelspec"]["display_name"] == get_kernel_spec("python3").display_name


# --- exercises and predictions -----------------------------------------------------------------


def test_exercises_and_predictions_are_those_of_the_course_table(path, nb):
    assert [number for number, _, _ in exercise_cells(nb)] == [info.id for info in entry(path).exercises]
    code = "\n".join(cell.source for cell in code_cells(nb))
    asked = re.findall(r'^[^#\n]*\bpredict\(\s*"([^"]+)"', code, re.MULTILINE)
    assert asked == list(entry(path).predictions)


def calls(cell, name):
    """The first arguments of the calls of a function in a code cell."""
    nodes = [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)]
    found = [node for node in nodes if getattr(node.func, "id", None) == name]
    return [node.args[0].value for node in sorted(found, key=lambda node: node.lineno)]


def words_of(source):
    """What can be read in a code cell, without the calls of `reveal`."""
    return re.sub(r"reveal\([^)]*\)", " ", source)


def strings_comments_and_asserts(source):
    """The parts of a code cell in which a number is an answer and not an ingredient."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    parts = [token.string for token in tokens if token.type in (tokenize.STRING, tokenize.COMMENT)]
    parts += [ast.unparse(node) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert)]
    return " ".join(parts)


def gives_away(asked, source):
    """Whether a cell's text holds a prediction's answer."""
    if asked.choices:
        return re.search(rf"(?<![\w-]){re.escape(asked.answer)}(?![\w-])", words_of(source), re.IGNORECASE)
    return re.search(
        rf"(?<![\w.,]){re.escape(f'{asked.answer:g}')}(?![\w.,]*\d)", strings_comments_and_asserts(words_of(source))
    )


def test_a_prediction_is_revealed_in_another_cell_than_the_next(nb):
    code = code_cells(nb)
    for cell, following in zip(code, [*code[1:], None], strict=True):
        asked = calls(cell, "predict")
        assert not asked or (following is not None and calls(following, "reveal") == asked), cell.id
    revealed = [name for cell in code for name in calls(cell, "reveal")]
    assert revealed == [name for cell in code for name in calls(cell, "predict")]


def test_the_cell_of_a_prediction_holds_more_than_predictions(nb):
    for cell in code_cells(nb):
        if asked := calls(cell, "predict"):
            lines = [line for line in cell.source.split("\n") if line.strip() and not line.startswith("#")]
            assert len(lines) == len(asked), cell.id


def test_a_predictions_answer_stands_in_the_next_code_cell(nb):
    code = code_cells(nb)
    for cell, following in zip(code, [*code[1:], None], strict=True):
        for name in calls(cell, "predict"):
            asked = get_prediction(name)
            assert not gives_away(asked, following.source), f"{name}: {asked.answer!r} stands in cell {following.id}"


@pytest.mark.parametrize(
    "answer, source",
    [
        ("shelf", 'print("it finds shelf")'),
        ("no", "weights  # No, they do not change"),
        (8, "assert found == 8"),
        (0.25, 'plots.lines(x, y, alt="falls to 0.25.")'),
    ],
)
def test_an_answer_in_a_comment_string_or_assert_goes_unseen(answer, source):
    choices = ("shelf", "no", "other") if isinstance(answer, str) else ()
    assert gives_away(Prediction("x", answer, "why", choices), source)


@pytest.mark.parametrize(
    "answer, source", [("no", "np.eye(3)  # notes"), (8, "np.ones(8)"), (8, 'print("0.8", 18, "80")')]
)
def test_other_words_and_ingredients_are_taken_for_the_answer(answer, source):
    choices = ("yes", "no") if isinstance(answer, str) else ()
    assert not gives_away(Prediction("x", answer, "why", choices), source)


def test_solution_cell_is_the_reference_code(nb):
    for number, _, tree in exercise_cells(nb):
        (shown,) = tree.body
        shown.decorator_list = []
        (reference,) = ast.parse(get(number).source).body
        assert ast.unparse(shown) == ast.unparse(reference), number


def test_an_untouched_exercise_is_told_that_it_holds_code(path):
    for _, position, _ in exercise_cells(lesson := read(ROOT / "notebooks" / make_lessons.lesson_name(path))):
        assert not has_code(lesson.cells[position].source)


def test_exercise_follows_its_text_with_two_hints_and_a_link_to_the_solution(path, nb):
    for number, position, _ in exercise_cells(nb):
        text = nb.cells[position - 1].source
        (heading,) = EXERCISE_HEADING.finditer(text)
        assert heading[1] == number
        assert re.findall(r"<details>\s*<summary>(Hint \d)", text) == ["Hint 1", "Hint 2"], number
        assert text.count("</details>") == 2, number
        solution = f"../solutions/{path.name}#cell-id={nb.cells[position - 1].id}"
        assert solution in LINK.findall(text), f"{number}: no link to {solution}"


def test_exercise_heading_says_what_the_course_table_says(path, nb):
    said = [found.groups() for cell in text_cells(nb) for found in EXERCISE_HEADING.finditer(cell.source)]
    assert said == [(info.id, info.title, info.stars, str(info.minutes)) for info in entry(path).exercises]


def test_markdown_inside_a_folded_hint_is_rendered(nb):
    # Up to the next empty line, Markdown takes <details> and what follows as HTML and leaves ` and ** alone.
    for cell in text_cells(nb):
        for block in re.findall(r"^<details>.*?(?=\n\s*\n|\Z)", cell.source, re.DOTALL | re.MULTILINE):
            assert not re.search(r"`|\*\*|\]\(", block), f"{cell.id}: put an empty line before and after {block!r}"


# --- text --------------------------------------------------------------------------------------


def test_lesson_opens_with_its_one_name_a_subtitle_its_question_and_what_it_takes(path, nb):
    opening, lesson = nb.cells[0], entry(path)
    assert opening.cell_type == "markdown"
    title, _, _, _, subtitle, _, question, *_ = opening.source.split("\n")
    assert title == f"# {lesson.number} · {lesson.title} · solution"
    assert re.fullmatch(r"[A-Z].*\.", subtitle), "one sentence beneath the title says what the lesson does"
    assert question == f"**{lesson.question}**" and "?" in question
    for word in ("You will", "do", "learn", "need"):
        assert re.search(rf"\b{word}\b", opening.source, re.IGNORECASE), word
    assert re.search(rf"\b{entry(path).minutes} min", opening.source), f"{entry(path).minutes} minutes"


def test_lesson_closes_with_what_the_reader_can_say_and_links_both_ways(path, nb):
    closing = nb.cells[-1]
    assert closing.cell_type == "markdown"
    assert "You can now say" in closing.source
    names = [f"{lesson.slug}.ipynb" for lesson in LESSONS]
    place = names.index(make_lessons.lesson_name(path))
    neighbours = {*names[max(place - 1, 0) : place], *names[place + 1 : place + 2]}
    there = neighbours & {make_lessons.lesson_name(path) for path in PATHS}
    assert {f"../notebooks/{name}" for name in there} <= set(LINK.findall(closing.source))


def test_the_map_of_the_course_says_what_the_course_table_says():
    (start,) = (ROOT / "solutions").glob("00_*.ipynb")
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (\d+) \|$", whole_text(read(start)), re.MULTILINE)
    shown = [(re.sub(r"\[(.*?)\]\(.*?\)", r"\1", name), question, int(minutes)) for name, question, minutes in rows]
    assert shown == [(f"{lesson.number} {lesson.title}", lesson.question, lesson.minutes) for lesson in LESSONS]


def test_the_readme_says_what_the_course_table_says():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(.+?)\]\(notebooks/(.+?)\.ipynb\) \| (.+?) \| (\d+) \| (.+?) \|$", readme, re.MULTILINE)
    assert rows == [(f"{x.number} {x.title}", x.slug, x.question, str(x.minutes), x.builds) for x in LESSONS]


def test_lesson_is_one_sitting(path, nb):
    """At most 2,000 words of prose, with hints and tables. What is looked at rather than read is not
    counted: code, numbers, formulas, links to other sites."""
    words = len(re.findall(r"[^\W\d_][\w’'-]*", prose(whole_text(nb))))
    least = 0 if path.stem.startswith("00") else 600
    assert least <= words <= 2000


def test_prose_is_calm_and_british(nb):
    for cell in text_cells(nb):
        text = prose(cell.source)
        assert "!" not in text, cell.id
        american = AMERICAN.search(text)
        assert not american, f"{cell.id}: {american[0]}"
        assert not re.search("[\U0001f000-\U0001ffff\u2705\u274c\ufe0f]", text), f"{cell.id}: emoji"


def headings(text):
    """The anchors that JupyterLab finds in Markdown: headings as shown, with spaces replaced.

    Only those in ASCII: JupyterLab compares them with the link as the browser encodes it.
    """
    anchors = (re.sub(r"[`*]", "", heading).replace(" ", "-") for heading in HEADING.findall(text))
    return {anchor for anchor in anchors if anchor.isascii()}


def places(path):
    """What may follow # in a link to the file at `path`."""
    if path.suffix != ".ipynb":
        return headings(path.read_text(encoding="utf-8"))
    nb = read(path)
    return headings(whole_text(nb)) | {f"cell-id={cell.id}" for cell in nb.cells}


def broken_links(path):
    """The relative links in the notebook at `path` that lead to no file, or to no place in one."""
    broken, nb = [], read(path)
    for cell in text_cells(nb):
        for link in LINK.findall(without_code(cell.source)) + re.findall(r'href="([^"]+)"', cell.source):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, place = unquote(link).partition("#")
            target = (path.parent / name).resolve()
            # Within the page that is open, JupyterLab knows headings and no cell ids.
            if not target.exists() or (place and place not in (places(target) if name else headings(whole_text(nb)))):
                broken.append(f"{cell.id}: {link}")
    return broken


@pytest.mark.parametrize("folder", ["notebooks", "solutions"])
def test_links_within_the_course_lead_somewhere(path, folder):
    assert not broken_links(ROOT / folder / (path.name if folder == "solutions" else make_lessons.lesson_name(path)))


# --- code --------------------------------------------------------------------------------------


def length(cell):
    """Lines of a code cell that a reader reads: not blank ones, and none that only a tool reads."""
    for_tools = ("", make_lessons.BEGIN, make_lessons.END)
    return sum(line.strip() not in for_tools for line in cell.source.split("\n"))


def test_code_cells_are_short(nb):
    lengths = {cell.id: length(cell) for cell in code_cells(nb)[1:]}  # the first one is imports
    assert min(lengths.values()) > 0
    assert median(lengths.values()) <= 6
    long = {id: lines for id, lines in lengths.items() if lines > 12}
    assert len(long) <= max(1, len(lengths) // 10), f"more than one cell in ten is longer than 12 lines: {long}"
    assert max(lengths.values()) <= 25, long


def test_no_line_of_code_is_wider_than_a_laptop_shows(path, nb):
    """80 columns are what JupyterLab shows in a window of 1100 pixels beside its file browser; solutions may wrap."""
    lesson = read(ROOT / "notebooks" / make_lessons.lesson_name(path))
    for book, widest in ((lesson, 80), (nb, 88)):
        wide = {cell.id: max(map(len, cell.source.split("\n"))) for cell in code_cells(book)}
        assert not {id: width for id, width in wide.items() if width > widest}


def test_at_most_two_code_cells_stand_between_texts(nb):
    kinds = "".join(cell.cell_type[0] for cell in nb.cells)
    assert "ccc" not in kinds, f"before cell {nb.cells[kinds.index('ccc') + 2].id}"


# --- pictures ----------------------------------------------------------------------------------


def test_every_picture_has_alt_text(nb):
    for id, output in outputs(nb):
        data = output.get("data", {})
        assert not [kind for kind in data if kind.startswith("image/")], f"{id}: show figures with helpers.plots"
        for image in IMAGE.findall(data.get("text/html", "")):
            described = re.search(r'\balt="([^"]+)"', image)
            assert described, f"{id}: a picture without alt text"
            assert html.unescape(described[1]) in data["text/plain"], f"{id}: strict nbval compares text/plain"
    for cell in text_cells(nb):
        assert "![](" not in cell.source and not [
            image for image in IMAGE.findall(cell.source) if not re.search(r'\balt="[^"]', image)
        ], f"{cell.id}: a picture without alt text"


def test_no_cell_spells_out_a_long_alternative_text(nb):
    for cell in code_cells(nb):
        for keyword in (node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.keyword)):
            if keyword.arg == "alt":
                said = "".join(
                    n.value for n in ast.walk(keyword.value) if isinstance(n, ast.Constant) and isinstance(n.value, str)
                )
                assert len(said) < 110, f"{cell.id}: helpers.plots derives this text"


def test_pictures_and_file_are_small(path, nb):
    for id, output in outputs(nb):
        for encoded in re.findall(r"data:image/\w+;base64,([^\"']+)", output.get("data", {}).get("text/html", "")):
            assert len(base64.b64decode(encoded)) < 60_000, id
    assert path.stat().st_size < 1_000_000


# --- the whole repository ----------------------------------------------------------------------


def test_the_old_example_sentence_is_still_somewhere():
    old = ("cab" + "inet", "keys to " + "the", "the " + "door")
    suffixes = {".py", ".md", ".ipynb", ".toml", ".yml", ".json5", ".cfg", ".mplstyle"}
    folders = ("benchmarks", "helpers", "notebooks", "solutions", "tests", "tools")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*") if file.suffix in suffixes]
    for file in (*files, *ROOT.glob("*.md")):
        if "mine-" not in file.name and ".ipynb_checkpoints" not in file.parts:
            text = file.read_text(encoding="utf-8").lower()
            assert not [phrase for phrase in old if phrase in text], file.relative_to(ROOT)


# --- the rules themselves ----------------------------------------------------------------------


def test_prose_leaves_out_what_readers_do_not_read_as_prose():
    markdown = "See `a!` and $n!$ ![alt](x.png) [Layer Normalization](https://example.org) [1](01.ipynb#A-(b)-c) too."
    assert prose(markdown).split() == ["See", "and", "[alt]", "[1]", "too."]


@pytest.mark.parametrize("word", ["color", "Normalized", "neighboring", "centered", "gray", "vectorization"])
def test_american_spelling_is_seen(word):
    assert AMERICAN.search(f"a {word} b")


@pytest.mark.parametrize("word", ["colour", "normalised", "centre", "size", "horizon", "realise", "prize", "magnitude"])
def test_british_spelling_is_left_alone(word):
    assert not AMERICAN.search(f"a {word} b")


def test_lesson_opened_without_the_course_says_in_one_sentence_what_to_do(path, monkeypatch):
    first = next(cell.source for cell in read(path).cells if cell.cell_type == "code")
    monkeypatch.setitem(sys.modules, "helpers", None)  # as where it is not installed
    with pytest.raises(ImportError, match="The course is not installed here.*run make lab"):
        exec(compile(first, path.name, "exec"), {})
