# A small reader of structures, topologies and trajectories, written from the formats and independent of pleat's.
import re
import struct


def _found(atoms, frames, names=None, first=None, last=None):
    """`names`: (chain, residue number, residue name) of each atom; `first`, `last`: coordinates in angstrom."""
    found = {"frames": frames, "atoms": atoms}
    if names:
        found |= {"residues": sum(a != b for a, b in zip([None, *names], names)),
                  "chains": len({name[0] for name in names}), "last_residue": names[-1][1]}
    return found | ({"first_xyz": first, "last_xyz": last} if first else {})


def _one_location(atoms):
    """Of atoms (place, mark, occupancy, name, xyz) that differ in their mark only, the one of the highest occupancy."""
    best, latest = {}, {}
    for number, atom in enumerate(atoms):
        other = latest.get(atom[0])
        if other is None or best[other][1] == atom[1]:  # an atom of its own
            latest[atom[0]] = number
            best[number] = atom
        elif atom[2] > best[other][2]:
            best[other] = atom
    return list(best.values())


def _of_models(models):
    atoms = _one_location(models[0])
    segments = len({atom[3][0][1] for atom in atoms}) > 1
    names = [(name[0] if segments else name[0][0], *name[1:]) for name in (atom[3] for atom in atoms)]
    return _found(len(atoms), len(models), names, atoms[0][4], atoms[-1][4])


def _pdb(lines):
    models = [[]]
    for line in lines:
        if line.startswith(("ATOM", "HETATM")):
            wide = len(line) > 46 and line[34] != "." and line[35] == "." and line[11] == " "  # a serial of six digits
            at = line[:6] + line[6 + wide:]
            number = at[22:27].strip() if re.fullmatch(r" +\d{4}|\d{5}", at[22:27]) else at[22:26].strip()
            old = re.fullmatch(r"\d\w{3}[ \d]{3}\d", at[72:80])  # the entry and a line number, before 1996
            segment = "" if old or re.search(r"\.\d", at[66:76]) else at[72:76].strip()
            name = ((at[21], segment), number, at[17:21].strip())
            models[-1].append(((name, at[22:27], at[12:16]) if at[16] == " " else (name[:2], at[22:27], at[12:16]), at[16],
                               float(at[54:60].strip() or 0), name, [float(at[k:k + 8]) for k in (30, 38, 46)]))
        elif line[:6].strip() in ("MODEL", "ENDMDL", "END"):
            models.append([])
    models = [model for model in models if model]
    return _of_models(models) if models else None


def _cif(text):
    words = re.findall(r"^;[\s\S]*?^;|'(?:[^'\n]|'(?=\S))*'|\"(?:[^\"\n]|\"(?=\S))*\"|#[^\n]*|\S+", text, re.MULTILINE)
    words = [word[1:-1] if word[0] in "'\"" and len(word) > 1 else word for word in words if word[0] != "#"]
    models, at, block = {}, 0, 0
    while at + 1 < len(words):
        at += 1
        if words[at - 1].lower() != "loop_" or not words[at].lower().startswith("_atom_site."):
            continue
        end = next(n for n in range(at, len(words)) if not words[n].lower().startswith("_atom_site."))
        tags, at, block = [word.split(".", 1)[1] for word in words[at:end]], end, block + 1
        while at + len(tags) <= len(words) and not re.match(r"_|loop_|data_", words[at], re.IGNORECASE):
            row = {tag: "" if word in "?." else word for tag, word in zip(tags, words[at:at + len(tags)])}
            of = lambda key, row=row: row.get("auth_" + key) or row.get("label_" + key, "")  # noqa: E731
            name = ((of("asym_id"), ""), of("seq_id"), of("comp_id"))
            mark = row.get("label_alt_id", "")
            place = (name if not mark else name[:2], row.get("pdbx_PDB_ins_code"), of("atom_id"))
            models.setdefault((block, row.get("pdbx_PDB_model_num")), []).append(
                (place, mark, float(row.get("occupancy") or 1), name, [float(row["Cartn_" + axis]) for axis in "xyz"]))
            at += len(tags)
    return _of_models(list(models.values())) if models else None


def _gro(lines):
    count, frames = int(lines[1]), 0
    while (count + 3) * frames + 1 < len(lines) and lines[(count + 3) * frames + 1].strip() == str(count):
        frames += 1
    body = lines[2:2 + count]
    step = body[0].index(".", body[0].index(".", 20) + 1) - body[0].index(".", 20)
    xyz = [[10 * float(line[20 + k * step:20 + (k + 1) * step]) for k in range(3)] for line in (body[0], body[-1])]
    names = [("", line[:5].strip(), line[5:10].strip()) for line in body]
    return {key: value for key, value in _found(count, frames, names, *xyz).items() if key not in ("chains", "last_residue")}


def _counted(text, lines):
    """Formats that announce how many atoms they have."""
    if "@<TRIPOS>MOLECULE" in text:
        counts = [int(number) for number in re.findall(r"@<TRIPOS>MOLECULE\n[^\n]*\n\s*(\d+)", text)]
    elif lines[0].startswith("PSF"):
        return {"atoms": int(re.search(r"(\d+) !NATOM", text)[1]), "topology": True}
    elif text.startswith("%VERSION"):
        return {"atoms": int(re.search(r"%FLAG POINTERS[^\n]*\n(?:%[^\n]*\n)+(.{8})", text)[1]), "topology": True}
    elif re.search(r"V[23]000", text):
        heads = re.findall(r"^([ \d]{3})[ \d]{3}.*V2000|COUNTS (\d+)", text, re.MULTILINE)
        counts = [int(short or long) for short, long in heads]
    elif re.fullmatch(r"\s*\d+\s*", lines[0]) and len(lines) > int(lines[0]) + 1 and "." in lines[2]:
        counts = [int(lines[0])] * (len(lines) // (int(lines[0]) + 2))
    else:
        return None
    return _found(counts[0], len(counts)) if len(set(counts)) == 1 else None


def _dcd(data):
    order = "<" if data[0] in (84, 164) else ">"
    marker = "i" if data[4:8] == b"CORD" else "q"
    size, at, records = struct.calcsize(marker), 0, []
    while at + 2 * size <= len(data):
        length = struct.unpack_from(order + marker, data, at)[0]
        records.append(at + size)
        at += length + 2 * size
    control = struct.unpack_from(order + "20i", data, records[0] + 4)
    atoms = struct.unpack_from(order + "i", data, records[2])[0]
    body = records[3 + (control[8] > 0):]  # behind the list of free atoms
    xyz = [[struct.unpack_from(order + "f", data, begin + 4 * n)[0] for begin in body[control[10] == 1:][:3]]
           for n in (0, atoms - 1)]
    return _found(atoms, len(body) // (3 + (control[10] == 1) + (control[11] == 1)), None, *xyz)


def _gromacs(data):
    """XTC (magic numbers 1995 and 2023) and TRR (1993): atoms and frames with coordinates."""
    at, frames, atoms = 0, 0, 0
    while at + 84 <= len(data):
        magic, atoms = struct.unpack_from(">ii", data, at)
        if magic == 1993:
            head = at + 12 + (struct.unpack_from(">i", data, at + 8)[0] + 3) // 4 * 4
            sizes = struct.unpack_from(">13i", data, head)
            atoms = sizes[10]
            frames += sizes[7] > 0
            at = head + 52 + (16 if max(sizes[2] // 9, sizes[7] // (3 * atoms)) == 8 else 8) + sum(sizes[:10])
            continue
        wide = 4 * (magic == 2023)
        packed = 0 if atoms <= 9 else struct.unpack_from(">q" if wide else ">i", data, at + 88)[0]
        at += 56 + 12 * atoms if atoms <= 9 else 92 + wide + (packed + 3) // 4 * 4
        frames += 1
    return _found(atoms, frames)


def _netcdf(data):
    number, dims = ">q" if data[3] == 5 else ">i", {}
    size = struct.calcsize(number)
    records, _, count = struct.unpack(">" + number[1] + "i" + number[1], data[4:8 + 2 * size])
    at = 8 + 2 * size
    for _ in range(count):
        length = struct.unpack_from(number, data, at)[0]
        name, at = data[at + size:at + size + length].decode(), at + size + (length + 3) // 4 * 4
        dims[name] = struct.unpack_from(number, data, at)[0]
        at += size
    return _found(dims["atom"], dims.get("frame", 1) or records)


def read(path, data):
    """{"frames", "atoms", "residues", "chains", "first_xyz", ...} or None: no structure that it knows."""
    if b"CORD" in data[4:12]:
        return _dcd(data)
    if data[:4] in (b"\0\0\x07\xcb", b"\0\0\x07\xe7", b"\0\0\x07\xc9"):
        return _gromacs(data)
    if data[:3] == b"CDF":
        return _netcdf(data)
    text = data.decode("latin-1").replace("\r\n", "\n")
    lines = text.split("\n")
    if "\0" in text:
        return None
    if re.search(r"^_atom_site\.", text, re.MULTILINE | re.IGNORECASE):
        return _cif(text)
    if re.search(r"^(ATOM  |HETATM)", text, re.MULTILINE) and "@<TRIPOS>" not in text:
        return _pdb(lines)
    if len(lines) > 3 and re.fullmatch(r"\s*\d+\s*", lines[1]) and re.match(r".{20}\s*-?\d*\.\d+\s*-?\d*\.", lines[2]):
        return _gro(lines)
    return _counted(text, lines)
