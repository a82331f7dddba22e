"""Images: as few pixels as the failure needs, in the format that they came in."""

import io
import sys
from collections.abc import Callable

import pytest
from archives import unzipped, zipped
from odd_oracles import fails_if, shrunk

from whet.reduction.formats.media.picture import IMAGE, IMAGE_ORDER, parse_picture
from whet.reduction.payload_kinds import KINDS, kinds_of
from whet.testing.reduction import check_format, check_pass

pytest.importorskip("PIL")

from PIL import Image, PngImagePlugin

FORMATS = ["PNG", "BMP", "GIF", "TIFF", "WEBP", "JPEG"]


def written(image: Image.Image, form: str, **options: object) -> bytes:
    file = io.BytesIO()
    save: Callable[..., None] = image.save
    save(file, form, lossless=True, **options)
    return file.getvalue()


def photo(size: tuple[int, int] = (64, 48)) -> Image.Image:
    red, green = Image.linear_gradient("L").resize(size), Image.radial_gradient("L").resize(size)
    return Image.merge("RGB", (red, green, red.rotate(180)))


def opened(payload: bytes) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(payload))
        image.load()
    except (OSError, SyntaxError) as error:
        raise ValueError(payload[:20]) from error
    return image


def pixels(payload: bytes) -> list[tuple[int, int, int]]:
    data = opened(payload).convert("RGB").tobytes()
    return [(data[at], data[at + 1], data[at + 2]) for at in range(0, len(data), 3)]


def is_red(pixel: tuple[int, int, int]) -> bool:
    return pixel[0] > 180 and pixel[1] < 70 and pixel[2] < 70


@pytest.mark.parametrize("form", FORMATS)
def test_one_red_pixel_is_all_that_is_left(form: str) -> None:
    image = photo().convert("L").convert("RGB")
    image.paste((255, 0, 0), (40, 24, 48, 32))  # as large as what a JPEG keeps together
    payload = written(image, form)

    done = shrunk(payload, fails_if(lambda it: any(map(is_red, pixels(it)))))

    left = opened(done.reduction.payload)
    assert [each.name for each in kinds_of(payload)] == ["image"]
    assert (left.format, left.size) == (form, (1, 1))
    assert done.calls < 45


def test_a_picture_too_wide_is_black_and_one_pixel_high() -> None:
    payload = written(photo(), "PNG")

    done = shrunk(payload, fails_if(lambda it: opened(it).width >= 10))

    left = opened(done.reduction.payload)
    assert (left.size, left.mode, set(left.tobytes())) == ((10, 1), "1", {0})
    assert done.calls < 80


def test_two_pixels_that_matter_are_kept_of_the_rows_between_them_none_and_the_rest_is_black() -> (
    None
):
    image = Image.new("RGB", (40, 30), (9, 9, 9))
    image.putpixel((3, 4), (200, 0, 0))
    image.putpixel((33, 25), (0, 200, 0))

    def holds(payload: bytes) -> bool:
        found = pixels(payload)
        return (200, 0, 0) in found and (0, 200, 0) in found

    done = shrunk(written(image, "PNG"), fails_if(holds))

    left = opened(done.reduction.payload)
    assert left.size == (2, 2)
    assert sorted(pixels(done.reduction.payload)) == [(0, 0, 0)] * 2 + [(0, 200, 0), (200, 0, 0)]
    assert done.calls < 80


def test_what_a_picture_is_made_of_is_made_plain() -> None:
    payload = written(photo().convert("RGBA"), "PNG")

    done = shrunk(payload, fails_if(lambda it: opened(it).mode != "1"))

    assert opened(done.reduction.payload).mode == "L"


def test_notes_go_from_a_picture() -> None:
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Comment", "made on a Monday " * 40)
    payload = written(Image.new("1", (1, 1)), "PNG", pnginfo=notes, dpi=(300, 300))

    done = shrunk(payload, fails_if(lambda it: opened(it).size == (1, 1)))

    assert opened(done.reduction.payload).info == {}
    assert len(done.reduction.payload) < 80
    assert done.calls <= 2


@pytest.mark.parametrize("form", ["GIF", "TIFF", "PNG", "WEBP"])
def test_frames_go_first(form: str) -> None:
    frames = [photo().rotate(9 * number) for number in range(8)]
    payload = written(frames[0], form, save_all=True, append_images=frames[1:])

    done = shrunk(payload, fails_if(lambda it: getattr(opened(it), "n_frames", 1) >= 2))

    left = parse_picture(done.reduction.payload)
    assert left is not None
    assert (len(left.frames), left.format) == (2, form)
    assert done.calls < 60


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGBA", "I;16", "CMYK"])
def test_each_sort_of_pixels_keeps_the_promises_of_a_kind(mode: str) -> None:
    form = "TIFF" if mode == "CMYK" else "PNG"
    image = photo((7, 5)).convert("L") if mode == "I;16" else photo((7, 5))
    image = (
        image.convert("P", palette=Image.Palette.ADAPTIVE) if mode == "P" else image.convert(mode)
    )
    payload = written(image, form)

    def is_smaller(payload: bytes) -> bool:
        left = opened(payload)
        return left.format == form and left.width <= 7 and left.height <= 5

    check_format(IMAGE, [payload, payload[:-9], b"", b"\x89PNG"])
    for each in KINDS["image"].passes:
        check_pass(each, [payload], is_valid=is_smaller, order=IMAGE_ORDER)


@pytest.mark.parametrize(
    "spoil", [lambda it: it[: len(it) // 2], lambda it: it[:60] + b"?" * 20 + it[80:]]
)
def test_a_broken_picture_is_bytes(spoil: Callable[[bytes], bytes]) -> None:
    payload = spoil(written(photo(), "PNG"))

    assert kinds_of(payload)[-1].name == "bytes"


def test_a_picture_that_unpacks_to_very_much_is_bytes() -> None:
    payload = written(Image.new("1", (20_000, 20_000)), "PNG")

    assert len(payload) < 100_000
    assert kinds_of(payload)[-1].name == "bytes"


def test_a_picture_in_a_zip_is_reduced_as_one() -> None:
    payload = zipped({"a.png": written(photo(), "PNG"), "b.png": written(photo((9, 9)), "PNG")})

    done = shrunk(payload, fails_if(lambda it: opened(unzipped(it)["a.png"]).height >= 3))

    assert list(unzipped(done.reduction.payload)) == ["a.png"]
    left = opened(unzipped(done.reduction.payload)["a.png"])
    assert (left.size, left.mode) == ((1, 3), "1")
    assert done.calls < 60


def test_a_format_that_has_no_such_pixels_keeps_its_own() -> None:
    payload = written(photo((16, 16)), "JPEG")

    done = shrunk(payload, fails_if(lambda it: opened(it).mode == "RGB"))

    assert opened(done.reduction.payload).mode == "RGB"
    assert opened(done.reduction.payload).size == (1, 1)


def test_frames_of_two_sizes_are_bytes() -> None:
    payload = written(photo((8, 8)), "TIFF", save_all=True, append_images=[photo((4, 4))])

    assert kinds_of(payload)[-1].name == "bytes"


def test_without_the_library_an_image_is_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = written(photo((8, 8)), "PNG")
    monkeypatch.setitem(sys.modules, "PIL", None)

    assert parse_picture(payload + b"\n") is None
    assert kinds_of(payload + b"\n")[-1].name == "bytes"
