# Versions of the symbols that ELF files need from libraries of the system, read and lowered.
"""Files of 64 bits, little-endian (System V ABI, chapters 4 and 5; Linux Standard Base, symbol versioning)."""
import ctypes
import re
from pathlib import Path
from struct import pack_into, unpack_from

DYNSYM, NEEDED, DEFINED, OF_SYMBOLS = 11, 0x6FFFFFFE, 0x6FFFFFFD, 0x6FFFFFFF  # types of sections
UNVERSIONED = 1


def number(version):
    """(2, 28) of 'GLIBC_2.28'; without a number, what is newer than all others."""
    return tuple(map(int, re.findall(r"\d+", version))) or (99,)


def is_elf(data):
    return data[:5] == b"\x7fELF\x02"


class Elf:
    """One file, which may be changed: its symbols, and the versions that it needs or defines."""

    def __init__(self, data):
        self.data = bytearray(data)
        start, = unpack_from("<Q", data, 0x28)
        size, count = unpack_from("<HH", data, 0x3A)
        heads = [unpack_from("<IIQQQQII", data, start + size * i) for i in range(count)]
        self.sections = {kind: (at, length, link, many) for _, kind, _, _, at, length, link, many in heads}
        if DYNSYM not in self.sections:
            self.symbols, self.strings = [], (0, 0)
            return
        at, length, link, _ = self.sections[DYNSYM]
        self.strings = heads[link][4], heads[link][5]
        self.symbols = [(self.text(name), part) for name, _, _, part, _, _ in
                        (unpack_from("<IBBHQQ", data, at + 24 * i) for i in range(length // 24))]

    def text(self, offset):
        start = self.strings[0] + offset
        return self.data[start:self.data.index(b"\0", start)].decode()

    def chain(self, kind):
        """(offset of the entry, offset of each of its parts) of the section of versions."""
        at, _, _, count = self.sections.get(kind, (0, 0, 0, 0))
        aux, following = (8, 12) if kind == NEEDED else (12, 16)
        for _ in range(count):
            many, = unpack_from("<H", self.data, at + (2 if kind == NEEDED else 6))
            part = at + unpack_from("<I", self.data, at + aux)[0]
            parts = []
            for _ in range(many):
                parts.append(part)
                part += unpack_from("<I", self.data, part + (12 if kind == NEEDED else 4))[0]
            yield at, parts
            at += unpack_from("<I", self.data, at + following)[0]

    def needed(self):
        """[library, version, its index, offset of its entry] of each version that the file needs."""
        return [(self.text(unpack_from("<I", self.data, at + 4)[0]),
                 self.text(unpack_from("<I", self.data, part + 8)[0]),
                 unpack_from("<H", self.data, part + 6)[0], part)
                for at, parts in self.chain(NEEDED) for part in parts]

    def index_at(self, symbol):
        return self.sections[OF_SYMBOLS][0] + 2 * symbol

    def version_of(self, symbol):
        return unpack_from("<H", self.data, self.index_at(symbol))[0] & 0x7FFF

    def defined(self):
        """{symbol: [versions that the file defines of it]}"""
        names = {unpack_from("<H", self.data, at + 4)[0]: self.text(unpack_from("<I", self.data, parts[0])[0])
                 for at, parts in self.chain(DEFINED)}
        found = {}
        for i, (symbol, part) in enumerate(self.symbols):
            if part != 0 and self.version_of(i) in names:
                found.setdefault(symbol, []).append(names[self.version_of(i)])
        return found

    def users(self, index):
        """Numbers of the symbols that the file needs in the version of that index."""
        return [i for i, (_, part) in enumerate(self.symbols) if part == 0 and self.version_of(i) == index]

    def name_version(self, part, version):
        """Makes the entry at `part` name another version, whose text the file contains; says whether it does."""
        start, size = self.strings
        at = self.data.find(b"\0" + version.encode() + b"\0", start, start + size)
        if at >= 0:
            pack_into("<I", self.data, part, elf_hash(version))
            pack_into("<I", self.data, part + 8, at + 1 - start)
        return at >= 0


def newest(elf):
    """{family: newest version} that the file needs, as {'GLIBC': '2.17'}; versions without a number, such as
    GLIBC_ABI_DT_RELR, are newer than all others."""
    found = {}
    for _, name, _, _ in elf.needed():
        family, _, version = name.partition("_")
        found[family] = max(found.get(family, ((), "")), (number(version), version))
    return {family: version for family, (_, version) in found.items()}


def elf_hash(name):
    value = 0
    for letter in name.encode():
        value = (value << 4) + letter
        value = (value ^ (value & 0xF0000000) >> 24) & 0x0FFFFFFF
    return value


def library(name):
    """This machine's library of glibc."""
    ctypes.CDLL(name)
    mapped = Path("/proc/self/maps").read_text(encoding="ascii").splitlines()
    return Elf(Path(next(line.split()[-1] for line in mapped if line.endswith("/" + name))).read_bytes())


def lower(data, limit, libraries):
    """The file with the newest version up to `limit`, as (2, 28), of each symbol of glibc that it needs in a newer
    one. Symbols without such a version stay. `libraries` keeps what was read: {}."""
    elf = Elf(data)
    for name in {name for name, version, _, _ in elf.needed() if version.startswith("GLIBC_2")}:
        entries = [entry for entry in elf.needed() if entry[0] == name and entry[1].startswith("GLIBC_2")]
        free = [entry for entry in entries if number(entry[1]) > limit]
        kept = {version: index for _, version, index, _ in entries if number(version) <= limit}
        if free and name not in libraries:
            libraries[name] = library(name).defined()
        older = {i: [version for version in libraries[name].get(elf.symbols[i][0], [])
                     if version.startswith("GLIBC_2") and number(version) <= limit]
                 for _, _, index, _ in free for i in elf.users(index)}
        wanted = {i: max(versions, key=number) for i, versions in older.items() if versions}
        free = [entry for entry in free if all(i in wanted for i in elf.users(entry[2]))]
        names = sorted(set(wanted.values()) - set(kept), key=number)
        for _, _, index, part in free:
            # An entry that is no longer used repeats a version.
            for version in [one for one in names if one not in kept] + sorted(kept) + ["GLIBC_2.2.5", "GLIBC_2.17"]:
                if elf.name_version(part, version):
                    kept.setdefault(version, index)
                    break
        for i, version in wanted.items():
            pack_into("<H", elf.data, elf.index_at(i), kept.get(version, UNVERSIONED))
    return bytes(elf.data)


def lower_folder(folder, limit):
    """Lowers all ELF files of a folder in place, and returns the newest version of glibc that they need then."""
    libraries, found = {}, {"0"}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and is_elf(data := path.read_bytes()):
            data = lower(data, limit, libraries)
            path.write_bytes(data)
            found.add(newest(Elf(data)).get("GLIBC", "0"))
    return max(found, key=number)
