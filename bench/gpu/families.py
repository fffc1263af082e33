# Many families in one call, the same bits from run to run, and one family that is very long.
import json
import shutil

from .bars import LARGE, size_name
from .speed import manifest_of

CALL_LIMIT = 120.0
SMALL = 3   # families beside a broken one


def finished(folder):
    """{name: its manifest's time of change} of the finished runs in a folder of runs."""
    found = {}
    for manifest in sorted(folder.glob("*/manifest.json")):
        if json.loads(manifest.read_text(encoding="utf-8")).get("status") == "finished":
            found[manifest.parent.name] = manifest.stat().st_mtime_ns
    return found


def fit_all(session, alignments, folder, *options):
    """One call of the program for many alignments."""
    return session.call([session.program("pleat"), "couplings", *alignments, "-o", folder,
                         "--device", session.device, *options], CALL_LIMIT)


def describe(done, count):
    return {"status": done.status, "seconds": done.seconds, "finished": count,
            **({"text": done.text[-2000:]} if done.status != 0 else {})}


def without_models(session, alignments, scratch):
    """All in one call, timed, and once more, when nothing is left to do."""
    done = fit_all(session, alignments, scratch / "all", "--quiet")
    first = finished(scratch / "all")
    session.record.add("families", count=len(alignments), one_call=describe(done, len(first)))
    session.record.bar("families: seconds of one call", done.seconds if done.status == 0 else None)
    session.record.bar("families: not finished by that call", len(alignments) - len(first))
    print(f"families: {len(first)} of {len(alignments)} in {done.seconds:.2f} s, status "
          f"{done.status}", flush=True)
    if done.status != 0:
        print(done.text[-4000:], flush=True)
    again = fit_all(session, alignments, scratch / "all", "--quiet")
    second = finished(scratch / "all")
    # What was not finished the first time is no second time.
    repeated = sum(second.get(name) != time for name, time in first.items())
    session.record.add("families", second_call={**describe(again, len(second)), "repeated": repeated})
    session.record.bar("families: computed again by a second call", repeated if first else None)
    print(f"families: a second call took {again.seconds:.2f} s, repeated {repeated}", flush=True)


def with_models(session, alignments, scratch):
    """The same with the models written, through --list."""
    listing = scratch / "families.txt"
    listing.write_text("".join(f"{path}\n" for path in alignments), encoding="utf-8")
    done = session.call([session.program("pleat"), "couplings", "--list", listing, "-o",
                         scratch / "models", "--device", session.device, "--quiet"], CALL_LIMIT)
    folder = scratch / "models"
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    session.record.add("families", list_with_models={**describe(done, len(finished(folder))),
                                                     "bytes_written": size})
    print(f"families: with models {done.seconds:.2f} s, {size / 2**30:.1f} GiB, status {done.status}",
          flush=True)
    shutil.rmtree(folder, ignore_errors=True)


def beside_a_broken_one(session, alignments, scratch):
    """A broken alignment among good ones is reported, and the good ones are finished."""
    broken = scratch / "broken.aln"
    broken.write_text("ACDE\nAC\n", encoding="ascii")
    good = alignments[:SMALL]
    done = fit_all(session, [good[0], broken, *good[1:]], scratch / "mixed")
    lost = len(good) - len(finished(scratch / "mixed"))
    reported = done.status not in (0, None) and "broken" in done.text
    session.record.add("families", beside_a_broken_one={
        "status": done.status, "lost": lost, "reported": reported})
    session.record.bar("families: lost beside a broken one", lost + (not reported))
    print(f"families: beside a broken one {lost} lost, status {done.status}", flush=True)


def same_bits(session, alignments, scratch):
    """Families fitted alone have the bytes of scores that they had together."""
    different = compared = 0
    for alignment in alignments[::10]:
        name = alignment.name.removesuffix(".aln.gz")
        together = scratch / "all" / name / "scores.npz"
        done = session.fit(alignment, scratch / f"alone-{name}", "--quiet")
        if done.status != 0 or not together.exists():
            different += 1
            print(f"{name}: not to be compared; alone {done.complaint()}", flush=True)
            continue
        compared += 1
        alone = scratch / f"alone-{name}" / "scores.npz"
        different += alone.read_bytes() != together.read_bytes()
    session.record.add("families", same_bits={"compared": compared, "different": different})
    session.record.bar("families: scores of other bits in another run", different)
    print(f"families: {compared} fitted again, {different} with other bits", flush=True)


def families(session):
    """All packed families in one call, with its promises."""
    alignments = session.families()
    if not alignments:
        session.record.add("families", absent="no families in the pack")
        print("families: none in the pack", flush=True)
        return
    with session.scratch() as scratch:
        for step in (without_models, same_bits, beside_a_broken_one, with_models):
            try:
                step(session, alignments, scratch)
            except (OSError, ValueError) as error:
                session.record.add("families", **{step.__name__: {"failed": str(error)}})
                print(f"families: {step.__name__.replace('_', ' ')}: {error}", flush=True)


def large(session):
    """One family of LARGE, with what is left of the time; what it says of its memory."""
    name = size_name(LARGE)
    alignment = session.generated(LARGE)
    with session.scratch() as scratch:
        # A checkpoint of this fit would be a hundred gigabytes.
        done = session.fit(alignment, scratch / "run", "--verbose",
                           limit=session.left() - 5, PLEAT_CHECKPOINT_SECONDS="1000000")
        told = [line for line in done.errors.splitlines() if line.strip()]
        found = {"status": done.status, "seconds": done.seconds, "said": told[:6] + told[6:][-6:]}
        if done.status == 0:
            found.update(manifest_of(scratch / "run"))
    session.record.add("large", **{name: found})
    # Stopped at the limit counts as any failure does.
    session.record.bar(f"{name}: exit status", 137 if done.status is None else done.status)
    print(f"{name}: status {done.status}, {done.seconds:.1f} s, gap {found.get('relative_gap')}",
          flush=True)
    print("\n".join(found["said"]), flush=True)
