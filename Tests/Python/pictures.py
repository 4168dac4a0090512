#!/usr/bin/env python3
"""Pictures with everything in them that must not stay, and what they must be afterwards.

usage: pictures.py make <folder>      writes samples; each holds the canary in every place that can hold text
       pictures.py costly <folder>    writes small files that keep whoever shows them busy, and broken ones
       pictures.py compare <folder>   compares <folder>/<name> with <folder>/clean/<name>: same pixels, no metadata
"""
import io, pathlib, random, struct, sys, zlib

from PIL import Image, ImageCms, ImageDraw, PngImagePlugin

CANARY = "canary-6.4281N-3.4219E"
# Samples that a camera held sideways.
TURNED = ("photo.jpg", "progressive.jpg", "print.jpg", "drawing.png", "lossy.webp", "lossless.webp", "alpha.webp")
XMP = f"<x:xmpmeta xmlns:x='adobe:ns:meta/'>{CANARY}</x:xmpmeta>".encode()


def picture(mode="RGB", size=(61, 43)):
    image = Image.new("RGBA", size, (10, 200, 90, 255))
    draw = ImageDraw.Draw(image)
    draw.ellipse((5, 5, 40, 30), fill=(220, 30, 60, 128), outline=(0, 0, 0, 255))
    draw.line((0, 42, 60, 0), fill=(255, 255, 255, 255), width=3)
    return image.convert(mode)


def exif(orientation=6):
    tags = Image.Exif()
    tags[0x0112] = orientation
    tags[0x010F] = tags[0x0110] = tags[0x013B] = tags[0x9286] = CANARY
    tags.get_ifd(0x8825)[1] = "N"
    tags.get_ifd(0x8825)[29] = CANARY
    return tags.tobytes()


def profile():
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def jpeg_segment(marker, data):
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def with_scans(path, count):
    """Repeats the last scan of a progressive JPEG until it has so many."""
    data = path.read_bytes()
    last = data.rindex(b"\xff\xda")
    more = count - data.count(b"\xff\xda")
    path.write_bytes(data[:-2] + data[last:-2] * more + data[-2:])


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(size, packed, depth=8, colour=0, interlaced=False, before=b""):
    """A PNG of these packed rows, in chunks of 1,000 bytes."""
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", *size, depth, colour, 0, 0, interlaced))
    data = b"".join(png_chunk(b"IDAT", packed[at : at + 1000]) for at in range(0, len(packed), 1000))
    return b"\x89PNG\r\n\x1a\n" + header + before + data + png_chunk(b"IEND", b"")


def interlaced_rows(width, height, bits):
    """The rows of the seven passes, black."""
    rows = b""
    for x, y, across, down in (
        (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)
    ):
        columns, lines = len(range(x, width, across)), len(range(y, height, down))
        rows += (b"\0" + bytes((columns * bits + 7) // 8)) * lines if columns else b""
    return rows


def packed_zeros(count):
    packer = zlib.compressobj(9)
    piece = bytes(1 << 20)
    return b"".join(packer.compress(piece) for _ in range(count >> 20)) + packer.flush()


def make_costly_png(folder):
    rows = (b"\0" + bytes(20)) * 20
    good = zlib.compress(rows)
    gigabyte = packed_zeros(1 << 30)
    profile = png_chunk(b"iCCP", b"icc\0\0" + gigabyte)
    small = png_chunk(b"iCCP", b"icc\0\0" + zlib.compress(bytes(1000)))
    noise = random.Random(6).randbytes(5000)
    files = {
        "profile": png((20, 20), good, before=profile),
        "profiles": png((20, 20), good, before=small * 2),
        "profile-noise": png((20, 20), good, before=png_chunk(b"iCCP", b"icc\0\0" + noise)),
        "rows": png((20, 20), gigabyte),
        "noise": png((4000, 4000), noise),
        "whole": png((20, 20), good),
        "short": png((20, 20), zlib.compress(rows[:-1])),
        "long": png((20, 20), zlib.compress(rows + b"\0")),
        "followed": png((20, 20), good + CANARY.encode()),
        "cut": png((20, 20), good[:-1]),
        "checksum": png((20, 20), good[:-1] + bytes([good[-1] ^ 1])),
        "filter": png((20, 20), zlib.compress(b"\5" + rows[1:])),
        "deep": png((3800, 3800), good, depth=16, colour=6),
    }
    for name, data in files.items():
        (folder / f"{name}.png").write_bytes(data)


def make_costly(folder):
    blank = Image.new("L", (4960, 4960), 128)
    for name, count in (("scans-880.jpg", 880), ("scans-20000.jpg", 20_000), ("scans-17.jpg", 17)):
        blank.save(folder / name, "JPEG", progressive=True)
        with_scans(folder / name, count)
    picture("L").save(folder / "scans-101.jpg", "JPEG", progressive=True)
    with_scans(folder / "scans-101.jpg", 101)
    make_costly_png(folder)


def make(folder):
    def save(name, image, kind, **more):
        image.save(folder / name, kind, **more)

    save("photo.jpg", picture(), "JPEG", quality=90, exif=exif(), comment=CANARY, xmp=XMP, icc_profile=profile())
    save("upright.jpg", picture(), "JPEG", exif=exif(1))
    save("progressive.jpg", picture(), "JPEG", progressive=True, exif=exif(8))
    save("grey.jpg", picture("L"), "JPEG", comment=CANARY)
    save("print.jpg", picture("CMYK"), "JPEG", exif=exif(3))
    save("restarts.jpg", picture(size=(200, 200)), "JPEG", restart_marker_blocks=4)
    save("scans-100.jpg", picture("L"), "JPEG", progressive=True, comment=CANARY)
    with_scans(folder / "scans-100.jpg", 100)
    plain = (folder / "upright.jpg").read_bytes()
    odd = jpeg_segment(0xE5, CANARY.encode()) + jpeg_segment(0xED, b"Photoshop 3.0\0" + CANARY.encode())
    second = (folder / "grey.jpg").read_bytes()
    (folder / "stuffed.jpg").write_bytes(plain[:2] + odd + b"\xff\xff" + plain[2:] + second + CANARY.encode())

    text = PngImagePlugin.PngInfo()
    text.add_text("Comment", CANARY)
    text.add_text("Long", CANARY, zip=True)
    text.add_itxt("XML:com.adobe.xmp", XMP.decode())
    text.add(b"tIME", struct.pack(">HBBBBB", 2026, 1, 1, 1, 1, 1))
    text.add(b"prVt", CANARY.encode())
    save("drawing.png", picture("RGBA"), "PNG", pnginfo=text, exif=exif(), icc_profile=profile(), dpi=(300, 300))
    save("palette.png", picture("RGB").quantize(16), "PNG", transparency=3, pnginfo=text)
    save("grey.png", picture("L"), "PNG", pnginfo=text)
    save("deep.png", Image.frombytes("I;16", (20, 20), bytes(range(200)) * 4), "PNG", pnginfo=text)
    comment = png_chunk(b"tEXt", b"Comment\0" + CANARY.encode())
    for name, size, depth in (("interlaced", (61, 43), 8), ("interlaced-bits", (3, 3), 1), ("interlaced-deep", (9, 1), 16)):
        data = png(size, zlib.compress(interlaced_rows(*size, depth)), depth, interlaced=True, before=comment)
        (folder / f"{name}.png").write_bytes(data)
    profiled = png_chunk(b"iCCP", b"icc\0\0" + zlib.compress(profile()))
    wide = (b"\4" + random.Random(7).randbytes(6 * 70)) * 50
    (folder / "chunks.png").write_bytes(png((70, 50), zlib.compress(wide), 16, 2, before=comment + profiled))
    (folder / "trailing.png").write_bytes((folder / "grey.png").read_bytes() + CANARY.encode())

    save("lossy.webp", picture(), "WEBP", quality=80, exif=exif(), xmp=XMP, icc_profile=profile())
    save("lossless.webp", picture("RGBA"), "WEBP", lossless=True, exif=exif(), xmp=XMP)
    save("alpha.webp", picture("RGBA"), "WEBP", quality=70, exif=exif())
    save("upright.webp", picture(), "WEBP", quality=70, exif=exif(1))
    save("plain.webp", picture(), "WEBP", quality=70)
    save("plain-lossless.webp", picture(), "WEBP", lossless=True)

    refused = folder / "refused"
    refused.mkdir()
    frames = [picture(), picture().rotate(90, expand=False)]
    frames[0].save(refused / "animated.png", "PNG", save_all=True, append_images=frames[1:])
    frames[0].save(refused / "animated.webp", "WEBP", save_all=True, append_images=frames[1:])
    picture().save(refused / "unknown.gif", "GIF")
    picture().save(refused / "unknown.bmp", "BMP")
    Image.new("1", (9000, 10)).save(refused / "large.png", "PNG")
    Image.new("L", (7000, 7000)).save(refused / "large.jpg", "JPEG")


def opened(path):
    data = path.read_bytes()
    image = Image.open(io.BytesIO(data))
    image.load()
    return data, image


def compare(folder):
    names = sorted(p.name for p in folder.iterdir() if p.is_file())
    for name in names:
        (before, old), (after, new) = opened(folder / name), opened(folder / "clean" / name)
        problems = []
        if (old.format, old.mode, old.size, old.tobytes()) != (new.format, new.mode, new.size, new.tobytes()):
            problems.append("other pixels")
        if old.info.get("transparency") != new.info.get("transparency"):
            problems.append("other transparency")
        if old.info.get("icc_profile") != new.info.get("icc_profile"):
            problems.append("another colour profile")
        tags = dict(new.getexif())
        turned = old.getexif().get(0x0112, 1)
        if turned == 1 and name in TURNED:
            problems.append("the sample lies on no side")
        if tags != ({0x0112: turned} if turned != 1 else {}):
            problems.append(f"EXIF {tags}, wanted orientation {turned}")
        extra = set(new.info) - {"icc_profile", "transparency", "gamma", "srgb", "jfif", "jfif_version", "jfif_unit",
                                 "jfif_density", "dpi", "adobe", "adobe_transform", "progressive", "progression", "exif",
                                 "loop", "background", "timestamp", "duration", "interlace"}
        if extra:
            problems.append(f"left over: {sorted(extra)}")
        hidden = CANARY.encode()
        if hidden in after or any(hidden in zlib_text(after, i) for i in range(len(after) - 1) if after[i] == 0x78):
            problems.append("the canary is left")
        if name not in ("plain.webp", "plain-lossless.webp", "restarts.jpg", "progressive.jpg", "upright.jpg", "print.jpg") \
                and hidden not in before and b"zTXt" not in before:
            problems.append("the sample holds nothing to leave out")
        print(f"{name}: {'; '.join(problems) or 'ok'}")
    if not names:
        sys.exit("there are no samples")


def zlib_text(data, start):
    try:
        return zlib.decompressobj().decompress(data[start:], 1000)
    except zlib.error:
        return b""


{"make": make, "costly": make_costly, "compare": compare}[sys.argv[1]](pathlib.Path(sys.argv[2]))
