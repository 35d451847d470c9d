"""The webcam's picture: it shows what the printer did."""

import io

import pytest
from PIL import Image, ImageChops, ImageStat

from printreach.printers.simulated.camera import Renderer, Scene
from printreach.printers.simulated.machine import Failure, Strand, Strands
from printreach.printers.simulated.motion import Point
from printreach.printers.simulated.printer import SimulatedPrinter
from printreach.printers.simulated.scenery import HEATS, HEIGHT_PX, WIDTH_PX, project

from .prints import FROM_ORIGIN, job

ASIDE = Point(15, 200, 60)


def scene(
    nozzle: Point = ASIDE, *, light: bool = True, caption: str = "", heat: int = 0, fan: int = 0
) -> Scene:
    return Scene(nozzle=nozzle, heat=heat, fan=fan, light_is_on=light, caption=caption)


def picture(renderer: Renderer, shown: Scene) -> Image.Image:
    return Image.open(io.BytesIO(renderer.frame(shown))).convert("RGB")


def difference(one: Image.Image, other: Image.Image) -> float:
    return sum(ImageStat.Stat(ImageChops.difference(one, other)).mean)


def block(layers: int) -> Strands:
    strands = Strands()
    for layer in range(layers):
        for n in range(20):
            start = Point(90 + n * 2, 90, layer * 0.6)
            strands.add(Strand(start, start._replace(y=130), is_loose=False))
    return strands


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    return Renderer()


def shown(renderer: Renderer, strands: Strands) -> Image.Image:
    while not renderer.catch_up(strands, 100):
        pass
    return picture(renderer, scene())


def test_the_picture_has_the_size_of_a_webcams(renderer: Renderer) -> None:
    assert picture(renderer, scene()).size == (WIDTH_PX, HEIGHT_PX)


def test_the_part_grows_layer_by_layer() -> None:
    renderer, strands = Renderer(), block(20)
    pictures = [picture(renderer, scene())]
    for _ in range(4):
        renderer.catch_up(strands, 100)
        pictures.append(picture(renderer, scene()))
    changes = [difference(pictures[0], later) for later in pictures]

    assert changes == sorted(changes)
    assert changes[-1] > changes[1] > 0.1


def test_painting_in_steps_and_at_once_gives_the_same_picture() -> None:
    strands, at_once, in_steps = block(10), Renderer(), Renderer()
    at_once.catch_up(strands, 10_000)
    while not in_steps.catch_up(strands, 7):
        pass

    assert difference(picture(at_once, scene()), picture(in_steps, scene())) < 0.05


def test_the_plastic_appears_where_it_is() -> None:
    renderer = Renderer()
    empty, full = shown(renderer, Strands()), shown(renderer, block(20))
    changed = ImageChops.difference(empty, full).convert("L").point([0] * 20 + [255] * 236)
    box = changed.getbbox()
    assert box is not None
    corner, top = project(Point(90, 90, 0)), project(Point(110, 130, 12))

    assert box[0] == pytest.approx(corner.x, abs=12)
    assert box[3] == pytest.approx(corner.y, abs=12)
    assert box[1] == pytest.approx(top.y, abs=12)


def test_the_head_moves(renderer: Renderer) -> None:
    left, right = (picture(renderer, scene(Point(x, 110, 20))) for x in (50, 170))

    assert difference(left, right) > 5


def test_the_fan_turns_and_the_hotend_glows(renderer: Renderer) -> None:
    near = Point(110, 110, 20)
    scenes = scene(near), scene(near, fan=1), scene(near, heat=HEATS)
    still, turned, glowing = (picture(renderer, one) for one in scenes)

    assert min(difference(still, turned), difference(still, glowing)) > 0.01


def test_without_light_it_is_dark(renderer: Renderer) -> None:
    dark = picture(renderer, scene(light=False))

    assert max(ImageStat.Stat(dark).mean) < 40


def test_a_caption_is_written_where_one_is_given(renderer: Renderer) -> None:
    assert (
        difference(picture(renderer, scene()), picture(renderer, scene(caption="layer 1"))) > 0.01
    )


def test_another_caption_takes_the_place_of_the_last(renderer: Renderer) -> None:
    first = picture(renderer, scene(caption="layer 1"))
    picture(renderer, scene(caption="layer 2"))

    assert difference(picture(renderer, scene(caption="layer 1")), first) == 0


def test_a_cleared_bed_is_empty_again() -> None:
    renderer, strands = Renderer(), block(10)
    empty = shown(renderer, Strands())
    shown(renderer, strands)
    strands.clear()

    assert difference(shown(renderer, strands), empty) == 0


@pytest.mark.slow
@pytest.mark.parametrize("failure", [Failure.SPAGHETTI, Failure.DETACH])
def test_a_failure_can_be_seen(failure: Failure) -> None:
    def ends_as(failing: Failure) -> Image.Image:
        printer = SimulatedPrinter()
        gcode = FROM_ORIGIN + "G0 X90 Y110 Z0.6 F9000\n" + "G1 X130 E2\nG1 Y112\nG1 X90 E2\n" * 50
        printer.start(job(gcode))
        printer.advance(25.0)
        printer.machine.fail(failing)
        printer.advance(1e3)
        return shown(Renderer(), printer.machine.strands)

    assert difference(ends_as(Failure.NONE), ends_as(failure)) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("nozzle", [Point(-1e6, 1e6, -1e6), Point(0, -500, 1e6), Point(1e7, 0, 0)])
def test_a_head_that_is_nowhere_to_be_seen_does_no_harm(renderer: Renderer, nozzle: Point) -> None:
    assert picture(renderer, scene(nozzle)).size == (WIDTH_PX, HEIGHT_PX)
