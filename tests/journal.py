# SPDX-License-Identifier: GPL-3.0-or-later
#
# A reader of records that was written from ctmend-journal(5) alone: it proves that the page says
# how they are. Prints the header's fields ("field 9 repair"), a line for each record behind the
# entries ("D 0 5"), and for each entry
#
#     S path inode uid:gid mode uid:gid mode cause attributes
#
# usage: journal.py RUN-DIRECTORY
import hashlib, os, struct, sys, zlib


class Body:
    def __init__(self, data):
        self.data, self.at = data, 0

    def raw(self, n):
        if self.at + n > len(self.data):
            raise ValueError("a body that is too short")
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self):
        n = shift = 0
        while True:
            (byte,) = self.raw(1)
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n

    def signed(self):
        n = self.number()
        return -(n + 1) // 2 if n & 1 else n // 2

    def string(self):
        return self.raw(self.number())

    def time(self):
        return self.signed(), self.number()

    def end(self):
        if self.at != len(self.data):
            raise ValueError("a body that is too long")


def records(data):
    if data[:15] != b"ctmend journal\n" or data[15] != 2:
        raise ValueError("not a record of version 2")
    at = 16
    while at < len(data):
        body = Body(data)
        body.at = at
        length = body.number()
        (kind,) = body.raw(1)
        content = body.raw(length)
        (crc,) = struct.unpack("<I", body.raw(4))
        if zlib.crc32(struct.pack("<Q", at) + data[at : body.at - 4]) != crc:
            raise ValueError("checksum at %d" % at)
        yield at, chr(kind), Body(content)
        at = body.at


class Before:
    path, device, inode, kind, handle = b"", 0, 0, 0, b""
    owners, mode, cause = (0, 0, 0, 0), 0, b""


def entry(kind, b, was):
    flags = b.number()
    same = b.number()
    was.path = was.path[:same] + b.string()
    if flags & 8:
        was.device = b.number()
    was.inode = (was.inode + b.signed()) % 2**64
    length = len(was.handle)
    if flags & 64:
        was.kind, length = b.signed(), b.number()
    bits = b.raw((length + 7) // 8)
    old = was.handle + bytes(length)
    was.handle = bytes(
        b.raw(1)[0] if bits[i // 8] >> i % 8 & 1 else old[i] for i in range(length)
    )
    if flags & 1:
        was.owners = tuple(b.number() for _ in range(4))
    if flags & 2:
        was.mode = b.number()
    after = b.number() if flags & 4 else was.mode
    links = (b.number(), b.number()) if flags & 16 else (1, 1)
    if flags & 32:
        was.cause = b.string()
    lifted = b.number() if flags & 128 else 0
    values = []
    if flags & 256:
        which = b.number()
        for i in range(3):
            three = which >> 3 * i & 7
            first = b.string() if three & 1 else b""
            second = first if three & 4 else b.string() if three & 2 else b""
            values += [first.hex() or "-", second.hex() or "-"]
    content = []
    if flags & 512:
        content = [b.number(), b.number()]
        content += [b.raw(32).hex()] if content[0] == 1 else ["%d.%09d" % b.time()]
    print(
        kind, was.path.decode(), was.inode, "%d:%d" % was.owners[:2], "%o" % was.mode,
        "%d:%d" % was.owners[2:], "%o" % after, was.cause.decode(), "%d/%d" % links, lifted,
        *values,
    )
    if content:
        print("  content", was.path.decode(), *content)
    if kind in "RT":
        size, sha256 = b.number(), b.raw(32)
        times = b.time()
        rule = b.string()
        parent = b.number(), b.number(), b.signed(), b.string()
        mtime = b.time()
        print(" ", size, sha256.hex(), times[0], rule.decode(), parent[1], mtime[0])


def digest(path):
    if not os.path.exists(path):
        return bytes(32)
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).digest()


def main(directory):
    with open(directory + "/journal", "rb") as f:
        data = f.read()
    n, was = 0, Before()
    for at, kind, b in records(data):
        if kind == "H":
            while b.at < len(b.data):
                print("field", b.number(), b.string().decode().replace("\n", " | "))
        elif kind in "SRTWO":
            if n % 128 == 0:
                was = Before()
            entry(kind, b, was)
            n += 1
        elif kind == "Z":
            if (b.number(), b.number()) != (n, at):
                raise ValueError("seal")
            for name in "removed.tar", "restore.tar":
                if b.raw(32) != digest(directory + "/" + name):
                    raise ValueError("SHA-256 of " + name)
            print("Z", n)
        elif kind == "D":
            print("D", b.number(), b.number())
        elif kind == "F":
            print("F", b.number(), b.number(), b.string().decode())
        elif kind == "M":
            print("M", b.number(), "%d.%09d" % b.time())
        elif kind == "N":
            print("N", b.number(), b.number(), b.number(), b.signed(), b.string().hex())
        elif kind == "C":
            print("C", b.signed(), b.string().decode(), b.string().decode())
        elif kind == "E":
            print("E", b.number(), b.number(), b.number(), b.number(), b.signed())
        else:
            raise ValueError("kind " + kind)
        b.end()


main(sys.argv[1])
