# Versions of the symbols that ELF files need from libraries of the system, read and lowered.
"""Files of 64 bits, little-endian (System V ABI, chapters 4 and 5; Linux Standard Base, symbol versioning)."""
import ctypes
import re
import subprocess
from pathlib import Path
from struct import pack_into, unpack_from

DYNSYM, NEEDED, OF_SYMBOLS = 11, 0x6FFFFFFE, 0x6FFFFFFF  # types of sections
UNVERSIONED = 1


def number(version):
    """(2, 28) of 'GLIBC_2.28'; without a number, such as GLIBC_ABI_DT_RELR, what is newer than all others."""
    return tuple(map(int, re.findall(r"\d+", version))) or (99,)


def is_elf(data):
    return data[:5] == b"\x7fELF\x02"


class Elf:
    """One file, which may be changed. `needed`: (library, version, its index, offset of its entry) of each version
    that it needs; `imported`: {index of a version: [(symbol, offset of its index)]}."""

    def __init__(self, data):
        self.data = bytearray(data)
        start, = unpack_from("<Q", data, 0x28)
        size, count = unpack_from("<HH", data, 0x3A)
        heads = [unpack_from("<IIQQQQII", data, start + size * i) for i in range(count)]
        self.sections = {head[1]: head for head in heads}
        self.needed, self.imported = [], {}
        if NEEDED not in self.sections:
            return
        _, _, _, _, at, length, link, _ = self.sections[DYNSYM]
        self.strings = heads[link][4:6]
        versions = self.sections[OF_SYMBOLS][4]
        for i in range(length // 24):
            name, _, _, part = unpack_from("<IBBH", data, at + 24 * i)
            if part == 0:
                index, = unpack_from("<H", data, versions + 2 * i)
                self.imported.setdefault(index, []).append((self.text(name), versions + 2 * i))
        at, files = self.sections[NEEDED][4], self.sections[NEEDED][7]
        for _ in range(files):
            _, many, library, part, following = unpack_from("<HHIII", data, at)
            entry = at + part
            for _ in range(many):
                _, _, index, name, step = unpack_from("<IHHII", data, entry)
                self.needed.append((self.text(library), self.text(name), index, entry))
                entry += step
            at += following

    def text(self, offset):
        start = self.strings[0] + offset
        return self.data[start:self.data.index(b"\0", start)].decode()

    def name_version(self, entry, version):
        """Makes the entry name another version, whose text the file contains; says whether it does."""
        start, size = self.strings
        at = self.data.find(b"\0" + version.encode() + b"\0", start, start + size)
        if at >= 0:
            code = 0
            for letter in version.encode():
                code = (code << 4) + letter
                code = (code ^ (code & 0xF0000000) >> 24) & 0x0FFFFFFF
            pack_into("<I", self.data, entry, code)
            pack_into("<I", self.data, entry + 8, at + 1 - start)
        return at >= 0


def newest(elf):
    """{family: newest version} that the file needs, as {'GLIBC': '2.17'}."""
    found = {}
    for _, name, _, _ in elf.needed:
        family, _, version = name.partition("_")
        found[family] = max(found.get(family, "0"), version, key=number)
    return found


def offered(library):
    """{symbol: [its versions]} of this machine's library of glibc."""
    ctypes.CDLL(library)
    maps = Path("/proc/self/maps").read_text(encoding="ascii")
    path = re.search(rf"\S+/{re.escape(library)}$", maps, re.MULTILINE).group()
    table = subprocess.run(["objdump", "-T", path], check=True, capture_output=True, text=True).stdout
    found = {}
    for version, symbol in re.findall(r"\(?(GLIBC_2[.\d]*)\)? +(\S+)$", table, re.MULTILINE):
        found.setdefault(symbol, []).append(version)
    return found


def lower(data, limit, libraries):
    """The file with the newest version up to `limit`, as (2, 28), of each symbol of glibc that it needs in a newer
    one. Symbols without such a version stay. `libraries` keeps what was read: {}."""
    elf = Elf(data)
    entries = [entry for entry in elf.needed if entry[1].startswith("GLIBC_2")]
    for library in {entry[0] for entry in entries if number(entry[1]) > limit}:
        if library not in libraries:
            libraries[library] = offered(library)

        def older(symbol, found=libraries[library]):
            versions = [version for version in found.get(symbol, []) if number(version) <= limit]
            return max(versions, key=number, default=None)
        own = [entry for entry in entries if entry[0] == library]
        kept = {version: index for _, version, index, _ in own if number(version) <= limit}
        free = [entry for entry in own if number(entry[1]) > limit]
        changes = [(older(symbol), at) for entry in free for symbol, at in elf.imported.get(entry[2], [])]
        wanted = sorted({version for version, _ in changes if version} - set(kept), key=number)
        for _, _, index, entry in free:
            if all(older(symbol) for symbol, _ in elf.imported.get(index, [])):
                # An entry that is no longer used repeats a version.
                for version in [one for one in wanted if one not in kept] + sorted(kept):
                    if elf.name_version(entry, version):
                        kept.setdefault(version, index)
                        break
        for version, at in changes:
            if version:
                pack_into("<H", elf.data, at, kept.get(version, UNVERSIONED))
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
