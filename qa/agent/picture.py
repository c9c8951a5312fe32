#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Pictures that pmchart drew: PPM as it writes them, the PNG that is made here, and
what Xvfb shows, in the format of xwd(1).

    picture.py share FILE COLOUR...     each colour's share of the pixels of these, in %
    picture.py join OUT.png FILE...     one picture of these, one below another; "-"
                                        before a name cuts off its time axis
    picture.py differ FILE FILE COLOUR...   where bars of these colours differ: nothing if
                                        they are the same but for fonts
"""
import collections
import struct
import sys
import zlib

AXIS = 60               # rows of pmchart's time axis
# Of a picture, from left to right. Fonts that are 15 % larger or smaller change the
# shares of each by 2 per cent at most; narrower strips would differ more.
STRIPS = 6
SAME = 2
SIGNATURE = b"\x89PNG\r\n\x1a\n"


class Picture:
    """Rows of pixels, each three bytes."""

    def __init__(self, rows):
        self.rows = rows

    @classmethod
    def read(cls, path):
        """Read a file."""
        with open(path, "rb") as file:
            data = file.read()
        if data.startswith(SIGNATURE):
            return cls(cls.rows_of_png(data[len(SIGNATURE):]))
        if not data.startswith(b"P6"):
            return cls(cls.rows_of_xwd(data))
        _, size, _, pixels = data.split(b"\n", 3)
        width, height = map(int, size.split())
        each = [pixels[i:i + 3] for i in range(0, 3 * width * height, 3)]
        return cls([each[i:i + width] for i in range(0, len(each), width)])

    @staticmethod
    def rows_of_xwd(data):
        """With 32 bits for a pixel, the least significant ones first."""
        words = struct.unpack(">25I", data[:100])
        head, width, height, bits, line, colours = (words[i] for i in (0, 4, 5, 11, 12, 19))
        assert bits == 32
        data = data[head + 12 * colours:]
        return [[data[i:i + 3][::-1] for i in range(y * line, y * line + 4 * width, 4)]
                for y in range(height)]

    @staticmethod
    def rows_of_png(data):
        """Of a file that write() made."""
        chunks = collections.defaultdict(bytes)
        while data:
            size, kind = struct.unpack(">I4s", data[:8])
            chunks[kind] += data[8:8 + size]
            data = data[12 + size:]
        width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
        palette = [chunks[b"PLTE"][i:i + 3] for i in range(0, len(chunks[b"PLTE"]), 3)]
        pixels = zlib.decompress(chunks[b"IDAT"])
        return [[palette[i] for i in pixels[y * (width + 1) + 1:(y + 1) * (width + 1)]]
                for y in range(height)]

    def write(self, path):
        """Write a PNG with 256 colours, the most frequent ones; text has shades."""
        count = collections.Counter(pixel for row in self.rows for pixel in row)
        palette = [pixel for pixel, _ in count.most_common(256)]
        index = {pixel: i for i, pixel in enumerate(palette)}
        for pixel in set(count) - set(index):
            index[pixel] = min(range(len(palette)), key=lambda i, p=pixel: sum(
                (a - b) ** 2 for a, b in zip(palette[i], p)))
        data = b"".join(b"\0" + bytes(index[pixel] for pixel in row) for row in self.rows)
        head = struct.pack(">IIBBBBB", len(self.rows[0]), len(self.rows), 8, 3, 0, 0, 0)
        with open(path, "wb") as file:
            file.write(SIGNATURE)
            for kind, part in ((b"IHDR", head), (b"PLTE", b"".join(palette)),
                               (b"IDAT", zlib.compress(data, 9)), (b"IEND", b"")):
                file.write(struct.pack(">I", len(part)) + kind + part +
                           struct.pack(">I", zlib.crc32(kind + part)))

    def share(self, colours, left=0, right=None):
        """Per cent of each colour, between two columns."""
        count = collections.Counter(pixel for row in self.rows for pixel in row[left:right])
        total = sum(count[c] for c in colours) or 1
        return [round(100 * count[c] / total) for c in colours]

    def strips(self, colours):
        """The shares of strip after strip."""
        width = len(self.rows[0])
        return [self.share(colours, width * i // STRIPS, width * (i + 1) // STRIPS)
                for i in range(STRIPS)]


def join(word):
    """The pixels of a file to join."""
    rows = Picture.read(word.lstrip("-")).rows
    return rows[:-AXIS] if word.startswith("-") else rows


def main():
    what, *words = sys.argv[1:]
    if what == "join":
        Picture(sum(map(join, words[1:]), [])).write(words[0])
        return
    colours = [bytes.fromhex(word) for word in words if len(word) == 6 and
               not set(word) - set("0123456789abcdef")]
    if what == "share":
        print(*Picture.read(words[0]).share(colours))
        return
    ours, theirs = (Picture.read(name).strips(colours) for name in words[:2])
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if any(abs(x - y) > SAME for x, y in zip(a, b)):
            print("strip %d of %d:" % (i + 1, STRIPS), *a, "and", *b)


if __name__ == "__main__":
    main()
