"""The page in a browser: drawn, turned, typed, pointed at, linked, and taken along as Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from mercer.play.modes import MODES

from .browser import Page, chromium, printed, save, served

pytestmark = pytest.mark.thorough
# whether a canvas is empty, and how far the longest bar of the weights goes
ONE_COLOUR = """canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const pixels = new Uint32Array(data.buffer);
  return pixels.every((pixel) => pixel === pixels[0]);
}"""
WIDEST = """canvas => {
  const [scale, pen] = [canvas.width / canvas.clientWidth, canvas.getContext("2d")];
  const [row, from] = [Math.min(34, (canvas.clientHeight - 6) / 4), Math.round(6 * scale)];
  const all = [0, 1, 2, 3].map((i) => {
    const { data } = pen.getImageData(from, Math.round((4 + (i + 0.66) * row) * scale), canvas.width - 2 * from, 1);
    const pixels = [...new Uint32Array(data.buffer)];
    return pixels.filter((pixel) => pixel !== 0xffffffff).length / pixels.length;
  });
  return Math.max(...all);
}"""
MARKUP = '<img src=x onerror="document.title=`run`">'


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(browser: Any) -> Iterator[str]:
    with served() as url:
        yield url


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Callable[..., Page]]:
    """Opens pages; none of them may have a fault at the end."""
    pages: list[Page] = []

    def open_page(url: str = address, **options: Any) -> Page:
        pages.append(Page(browser, url, **options))
        return pages[-1]

    yield open_page
    for page in pages:
        page.close()


@pytest.fixture(scope="module")
def narrow(browser: Any, address: str) -> Iterator[Page]:
    """A page on a small dark screen, on which one goes from mode to mode."""
    page = Page(browser, address, width=360, height=740, dark=True)
    yield page
    page.close()


def assert_computed(page: Page) -> None:
    """The program that the page gives prints the numbers of the page."""
    shown, computed = page.numbers(), printed(page.python())
    assert computed
    assert {words: shown[words] for words in computed} == pytest.approx(computed, rel=1e-9, abs=1e-9)


def test_a_slider_that_is_dragged_changes_kernel_picture_and_numbers_and_is_one_step_back(opened):
    page = opened()
    before, picture, drawn = page.numbers(), page.picture(), page.pictures()
    box = page.page.locator("#blocks input[type=range]").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    for step in range(20):
        page.page.mouse.move(x + 2 * step, y)
        page.page.wait_for_timeout(15)
    assert page.pictures() > drawn + 2  # while the hand moves
    page.page.mouse.up()
    page.page.wait_for_timeout(50)
    page.rest()
    assert page.kernel != "Gaussian(γ=2)"
    assert float(page.kernel.removeprefix("Gaussian(γ=").rstrip(")")) > 10
    assert page.page.input_value("#blocks .number") in page.kernel
    assert page.picture() != picture
    after = page.numbers()
    assert after["support vectors"] > before["support vectors"]
    assert_computed(page)
    page.page.click("#undo")
    page.rest()
    assert page.kernel == "Gaussian(γ=2)"
    assert page.numbers() == before
    page.page.click("#redo")
    page.rest()
    assert page.numbers() == after


def test_a_kernel_is_typed_completed_and_complained_of_with_the_picture_kept(opened):
    page = opened()
    page.page.fill("#expression", "Lap")
    page.page.wait_for_selector("#completions li >> text=Laplacian")
    page.page.press("#expression", "ArrowDown")
    page.page.press("#expression", "Enter")
    page.page.press("#expression", "Enter")
    page.rest()
    assert page.kernel.startswith("Laplacian(")
    page.type_kernel("Gaussian(γ=2) + 0.5·Polynomial(degree=3)")
    assert page.page.locator("#blocks .block.terms > .inside > .block").count() == 2
    picture, numbers = page.picture(), page.numbers()
    page.page.fill("#expression", "Gaussian(γ=2) + 0.5·Polynomiel(degree=3)")
    page.page.wait_for_selector("#complaint:has-text('Character 21')")
    assert page.page.get_attribute("#expression", "aria-invalid") == "true"
    assert page.numbers() == numbers
    assert page.picture() == picture
    page.page.wait_for_timeout(300)
    assert page.page.inner_text("#complaint") != ""  # it stays until the text is mended
    page.page.fill("#expression", "Gaussian(γ=2)")
    page.page.wait_for_selector("#complaint:empty", state="attached")
    page.rest()
    assert page.numbers() != numbers


def test_blocks_add_normalise_and_remove(opened):
    page = opened()

    def act(at: str, words: str) -> str:
        page.page.click(f'[data-block="{at}"]')
        page.page.click(f"#change button >> text={words}")
        page.page.wait_for_timeout(50)
        page.rest()
        return page.kernel

    page.page.click('[data-block=""]')
    page.page.select_option("#other", "Linear()")
    page.page.click("#change button >> text=+ add")
    page.page.wait_for_selector('[data-block="linear"]')
    assert page.kernel == "Gaussian(γ=2) + Linear()"
    page.page.click('[data-block=""]')
    assert page.page.is_disabled("#change button >> text=remove")  # nothing would be left
    page.page.keyboard.press("Escape")
    assert act("linear", "normalise") == "Gaussian(γ=2) + Linear().normalized()"
    assert act("gaussian", "remove") == "Linear().normalized()"


def test_points_are_added_moved_labelled_and_erased_by_pointer(opened):
    page = opened()
    canvas, note = page.page.locator("#plane"), page.page.locator("#samples > .quiet")
    page.page.click("#samples button >> text=Clear")
    page.page.wait_for_selector("#refusal:has-text('There are no points')")
    for place, label in (((150, 150), 0), ((200, 250), 0), ((450, 150), 1), ((400, 300), 1)):
        page.page.click(f'.class[data-label="{label}"]')
        canvas.click(position={"x": place[0], "y": place[1]})
    page.page.wait_for_selector("#samples :text('4 points')")
    page.rest()
    assert not page.page.is_visible("#refusal")
    assert page.numbers()["accuracy on these points"] == 1
    page.page.click('[data-tool="label"]')
    page.page.click('.class[data-label="2"]')
    canvas.click(position={"x": 150, "y": 150})
    page.rest()
    assert "[1, 2, 2]" not in page.python()
    assert ", 2]," in page.python()
    page.page.click('[data-tool="move"]')
    canvas.drag_to(canvas, source_position={"x": 150, "y": 150}, target_position={"x": 300, "y": 350})
    page.page.click('[data-tool="erase"]')
    canvas.click(position={"x": 150, "y": 150})  # there is none any more
    assert note.inner_text() == "4 points"
    canvas.click(position={"x": 300, "y": 350})
    assert note.inner_text() == "3 points"
    page.page.keyboard.press("Control+z")
    assert note.inner_text() == "4 points"


def test_of_points_that_are_gone_nothing_is_shown(opened):
    page = opened()
    drawn = page.picture()
    for clear in (True, False):
        if clear:
            page.page.click("#samples button >> text=Clear")
            words = "There are no points"
        else:
            page.page.locator("#plane").click(position={"x": 300, "y": 200})
            words = "There is one point, and it is of class 1, and two classes are needed"
        page.page.wait_for_selector(f"#refusal:has-text('{words}')")
        page.page.wait_for_selector(f"#card-numbers:has-text('{words}')")
        assert page.numbers() == {}
        assert "300" not in page.page.inner_text("#card-matrix") + page.page.inner_text("#card-spectrum")
        assert page.page.locator("#card-matrix canvas").evaluate(ONE_COLOUR)
        assert page.page.inner_text("#legend") == ""
        assert not page.page.is_visible("#card-solver")
        label = page.page.get_attribute("#plane", "aria-label")
        assert label == ("Plane without points." if clear else "Plane with 1 point: 1 of class 1.")
    # a kernel can be typed and turned meanwhile
    page.type_kernel("Gaussian(γ=5)")
    page.page.wait_for_function("document.querySelector('#blocks .number').value === '5'")
    assert page.page.inner_text("#complaint") == ""
    while not page.page.is_disabled("#undo"):
        page.page.click("#undo")
    page.page.wait_for_timeout(50)
    page.rest()
    assert page.kernel == "Gaussian(γ=2)"
    assert page.picture() == drawn


def test_a_mode_that_cannot_use_the_points_takes_its_own_and_says_so(opened):
    page = opened()
    page.enter("novelty")
    page.page.click("#samples button >> text=Clear")
    for x in range(150, 400, 50):
        page.page.locator("#plane").click(position={"x": x, "y": 200})
    page.page.click('[data-tool="erase"]')
    page.enter("classify")
    assert page.page.inner_text("#told").startswith("Classify needs points of two classes")
    assert page.page.input_value("#family") == "moons"
    assert not page.page.is_visible("#refusal")
    assert page.numbers()["support vectors"] > 0
    assert page.page.get_attribute('[data-tool="add"]', "aria-pressed") == "true"
    page.page.click("#told button")
    page.page.wait_for_timeout(50)
    page.rest()
    assert page.page.inner_text("#samples > .quiet") == "5 points"
    assert not page.page.is_visible("#told")
    page.enter("cluster")  # for groups they are enough
    assert page.page.inner_text("#samples > .quiet") == "5 points"


def test_the_range_of_a_slider_stays_and_is_widened_once_when_it_is_let_go(opened):
    page = opened()
    slider, field = page.page.locator("#blocks input[type=range]"), "#blocks .number"
    ends = []
    for _ in range(3):
        box = slider.bounding_box()
        page.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.page.mouse.down()
        for step in range(1, 5):
            page.page.mouse.move(box["x"] + box["width"] * (0.5 + step / 6), box["y"] + box["height"] / 2)
            page.page.wait_for_timeout(60)
        assert slider.input_value() == "400"  # nothing moves under the hand
        page.page.mouse.up()
        page.page.wait_for_timeout(50)
        page.rest()
        ends.append(float(page.page.input_value(field)))
    assert ends == [1e3, 1e4, 1e4]
    for text, value in (("2350000", 2350000), ("0.00263", 0.00263), ("0.0000001234", 1.234e-7)):
        page.page.fill(field, text)
        page.page.press(field, "Enter")
        page.page.focus("#expression")
        page.page.wait_for_timeout(50)
        page.rest()
        assert float(page.page.input_value(field)) == value
        assert page.page.locator(field).evaluate("field => field.scrollWidth <= field.clientWidth")
    page.type_kernel("Polynomial(degree=2)")
    page.page.focus('[data-key="offset"]')
    for key in ("Home", "ArrowLeft"):
        page.page.keyboard.press(key)
        page.page.wait_for_timeout(50)
        page.rest()
        assert page.page.input_value(field + ":not([type=number])") == "0"


def test_half_a_word_is_not_complained_of(opened):
    page = opened()
    page.page.fill("#expression", "")
    page.page.type("#expression", "Lapl", delay=150)
    page.page.wait_for_timeout(200)
    assert page.page.inner_text("#complaint") == ""
    page.page.wait_for_selector("#complaint:has-text(\"'Lapl' is not the name of a kernel\")")
    page.page.fill("#expression", "Gaussia")
    page.page.press("#expression", "Enter")
    page.page.wait_for_selector("#complaint:has-text('Gaussia')", timeout=500)


def test_points_are_added_moved_and_erased_by_keyboard(opened):
    page = opened()
    note = page.page.locator("#samples > .quiet")
    page.page.click("#samples button >> text=Clear")
    page.page.focus("#expression")
    page.page.keyboard.press("Tab")  # a crosshair is for who comes by keyboard
    page.page.locator("#skip").press("Enter")
    for key in ("Enter", "Shift+ArrowRight", "2", "Enter", "Shift+ArrowUp", "Enter"):
        page.page.keyboard.press(key)
    page.page.wait_for_selector("#samples :text('3 points')")
    page.rest()
    for key in ("m", "ArrowUp", "Enter"):
        page.page.keyboard.press(key)
    page.rest()
    assert "[0.0, 0.0, 0],\n    [0.5, 0.0, 1],\n    [0.5, 0.6, 1]," in page.python()
    page.page.focus("#plane")
    page.page.keyboard.press("Delete")
    assert note.inner_text() in ("2 points", "3 points")


def test_a_link_brings_back_what_was_seen(opened):
    page = opened()
    page.enter("regress")
    page.type_kernel("Periodic() + Linear()")
    page.page.fill("#learner .number", "3")
    page.page.press("#learner .number", "Enter")
    page.rest()
    page.page.click("#link")
    page.page.wait_for_selector("#link:has-text('Copied')")
    link = page.page.evaluate("navigator.clipboard.readText()")
    other = opened(link)
    assert other.kernel == "Periodic() + Linear()"
    assert other.numbers() == page.numbers()
    assert other.picture() == page.picture()
    other.open(link.split("#")[0] + "#bm90aGluZw")  # a link that holds no state is none
    assert other.kernel == "Gaussian(γ=2)"


@pytest.mark.parametrize("mode", MODES)
def test_the_python_that_is_copied_computes_the_numbers_of_the_page(narrow, mode):
    if mode == "molecules":
        pytest.importorskip("rdkit")
    narrow.enter(mode)
    assert_computed(narrow)
    wide = narrow.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, "something is wider than a small screen"


def test_a_row_of_the_matrix_lights_its_sample(opened):
    page = opened()
    before = page.picture()
    page.page.locator("#card-matrix canvas").hover(position={"x": 120, "y": 60})
    assert "point" in page.page.inner_text(".where")
    assert page.picture() != before
    lit = page.picture()
    page.page.locator("#card-matrix canvas").hover(position={"x": 180, "y": 60})
    assert page.picture() != lit  # the sample of the column is lit too
    page.page.mouse.move(5, 5)
    assert page.picture() == before
    page.page.focus("#card-matrix canvas")
    page.page.keyboard.press("ArrowDown")
    page.page.wait_for_selector("#said:has-text('Row 1 of 240')", state="attached")


def test_all_steps_of_the_lesson_can_be_done_and_what_was_there_before_comes_back(opened):
    page = opened()
    page.type_kernel("Laplacian(γ=3)")
    numbers = page.numbers()
    page.page.click("#teach")
    for step in range(1, 13):
        assert page.page.inner_text("#lesson p").startswith(f"Step {step} of 12")
        page.rest()
        assert page.page.inner_text("#lesson .done") == "", f"step {step} is done before it began"
        tool = page.page.locator("[data-tool][aria-pressed=true]")
        assert tool.get_attribute("data-tool") == ("erase" if step == 7 else "add")
        page.page.click("[data-step=show]")
        page.page.wait_for_selector("#lesson .done:has-text('Done')")
        page.page.click("[data-step=next]")
    assert not page.page.is_visible("#lesson")
    page.rest()
    assert page.kernel == "Laplacian(γ=3)"
    assert page.numbers() == numbers
    assert page.page.is_visible("#told button")
    page.page.click("#teach")
    assert page.page.inner_text("#lesson p").startswith("Step 1 of 12")


def test_on_a_small_screen_task_and_picture_are_seen_together(browser, address):
    page = Page(browser, address, width=360, height=740)
    page.page.click("#teach")
    for _ in range(4):
        page.rest()
        page.page.wait_for_timeout(50)
        plane, lesson, task = (page.page.locator(at).bounding_box() for at in ("#plane", "#lesson", "#lesson .task"))
        assert plane["y"] >= 0
        assert plane["y"] + plane["height"] <= lesson["y"]
        assert task["y"] + task["height"] <= 740
        page.page.click("[data-step=next]")
    page.page.click(".fold")
    assert page.page.locator("#lesson").bounding_box()["height"] < 60
    page.close()


def test_novelties_are_counted_as_they_are_drawn(opened):
    page = opened()
    page.enter("novelty")
    found = [int(page.numbers()[f"points {where}"]) for where in ("outside", "on the border", "inside")]
    assert sum(found) == 300
    assert found[1] > 0
    legend = page.page.inner_text("#legend")
    assert [int(number) for number in re.findall(r"\d+(?= outside| on the border| inside)", legend)] == found
    assert "class" not in (page.page.get_attribute("#plane", "aria-label") or "")


def test_bars_of_weights_are_drawn_against_one(opened):
    page = opened()
    page.enter("weights")
    for p in (1, 3):
        page.page.fill('#learner .dial:has([data-key="p"]) .number', str(p))
        page.page.press('#learner .dial:has([data-key="p"]) .number', "Enter")
        page.page.wait_for_timeout(50)
        page.rest()
        page.page.wait_for_timeout(50)
        drawn = page.page.locator("#card-weights canvas").evaluate(WIDEST)
        assert drawn == pytest.approx(page.numbers()["largest weight"], abs=0.02)
    assert "that was learnt" in page.page.inner_text("#card-matrix")
    assert "learnt kernel" in page.page.inner_text("#card-spectrum")


def test_one_more_word_does_not_mirror_the_map(opened):
    page = opened()
    turned = page.page.evaluate(
        """async () => {
          const { asBefore } = await import("./items.js");
          const map = (items, places) => ({ data: { items }, arrays: { places: Float32Array.from(places) } });
          const after = map(["a", "c", "b"], [-1, 2, 0, 3, 1, -2]);
          asBefore(after, map(["a", "b"], [1, 2, -1, -2]));
          return [...after.arrays.places];
        }"""
    )
    assert turned == [1, 2, 0, 3, -1, -2]


def test_the_picture_is_saved_as_an_svg(opened, tmp_path: Path):
    page = opened()
    for mode in ("classify", "regress", "words"):
        page.enter(mode)
        with page.page.expect_download() as download:
            page.page.click("#picture")
        download.value.save_as(tmp_path / f"{mode}.svg")
        root = ElementTree.parse(tmp_path / f"{mode}.svg").getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) > 3


def test_what_comes_from_outside_is_only_ever_text(opened, tmp_path: Path):
    page = opened()
    page.enter("words")
    for text in (MARKUP, "</title><script>document.title='run'</script>"):
        page.page.fill("#editor li:nth-child(1) input", text)
        page.page.wait_for_selector("#card-pair option:nth-child(1)", state="attached")
        page.rest()
        page.page.wait_for_timeout(50)
        assert page.page.inner_text("#card-pair option:nth-child(1) >> nth=0") == text
    with page.page.expect_download() as download:
        page.page.click("#picture")
    download.value.save_as(tmp_path / "words.svg")
    assert not list(ElementTree.parse(tmp_path / "words.svg").getroot().iter("{http://www.w3.org/2000/svg}script"))
    page.page.fill("#expression", MARKUP)
    page.page.wait_for_selector("#complaint:not(:empty)")
    assert page.page.locator("#complaint img, #card-pair img, #completions img").count() == 0
    assert page.page.title() != "run"


def test_a_table_is_opened_and_a_server_that_is_gone_is_told(browser: Any, tmp_path: Path):
    rows = [f"{i % 7},{i % 5 - (i % 2)},{'ab'[i % 2]}" for i in range(40)]
    with served(str(save(tmp_path / "two <b>.csv", ["u,v,kind", *rows])), "--target", "kind") as url:
        page = Page(browser, url)
        assert page.page.locator("#family option:checked").inner_text() == "two <b>.csv"
        assert page.page.inner_text("#samples > .quiet") == "40 points"
        assert_computed(page)
        page.page.locator("#plane").click(position={"x": 20 + 60, "y": 40})
        assert page.page.inner_text("#samples > .quiet") == "41 points"
        page.page.click('button[data-mode="cluster"]')
        page.rest()
        assert page.page.inner_text("#samples > .quiet") == "41 points"  # what one has drawn comes along
        assert page.faults == []
    page.page.wait_for_selector("#connection:has-text('does not answer')")
    page.context.close()


def test_a_refused_kernel_leaves_the_page_at_rest_and_what_is_undone_can_be_asked_again(opened):
    page = opened()
    page.page.fill("#expression", "Foo(")
    page.page.press("#expression", "Enter")
    page.page.wait_for_selector("#expression[aria-invalid=true]")
    page.rest()
    page.type_kernel("Gaussian(γ=5)")
    page.page.click("#undo")
    page.rest()
    page.type_kernel("Gaussian(γ=5)")
    assert page.page.locator("#blocks .number").first.input_value() == "5"
