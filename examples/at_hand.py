"""Data for the examples: real where it is at hand, else drawn from a model that is written here.

Files are looked for in the folder that the environment variable MERCER_DATA names, without it in ``shared/data`` beside
the checkout. Each function returns its data and ``source``, a sentence that says which it is.
"""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path
from types import SimpleNamespace as Data
from typing import Any

import numpy as np


def _path(name: str) -> Path | None:
    """The file, where it is there."""
    folder = os.environ.get("MERCER_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(folder) / name
    return path if path.is_file() else None


def _rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as f:
        return list(csv.DictReader(f))


def _made_up_molecules(n: int) -> list[str]:
    """Rings with two substituents, put together at random."""
    rng = np.random.default_rng(0)
    rings = ["c1ccc({})cc1", "c1ccnc({})c1", "C1CCC({})CC1", "c1cc({})oc1", "c1ccc2cc({})ccc2c1", "C1CN({})CCO1"]
    links = ["", "C", "CC", "OC", "CCC", "C(C)C", "SC", "CC(C)"]
    ends = ["C", "Cl", "F", "N(C)C", "C(=O)N", "C(=O)O", "O", "C#N", "S(=O)(=O)N", "OC", "C(F)(F)F", "CCCC"]
    cores = [f"{end}{link}{ring}" for end in ("C", "Cl", "O", "NC(=O)", "CC") for link in links[:4] for ring in rings]
    made = {rng.choice(cores).format(rng.choice(links) + rng.choice(ends)): None for _ in range(3 * n)}
    return list(made)[:n]


def _properties(smiles: list[str]) -> Any:
    """logP, polar surface, molecular weight, rotatable bonds, share of aromatic atoms."""
    from rdkit import Chem
    from rdkit.Chem import Crippen, rdMolDescriptors

    found = []
    for s in smiles:
        m = Chem.MolFromSmiles(s)
        aromatic = np.mean([atom.GetIsAromatic() for atom in m.GetAtoms()])
        rotatable = rdMolDescriptors.CalcNumRotatableBonds(m)
        weight = rdMolDescriptors.CalcExactMolWt(m)
        found.append([Crippen.MolLogP(m), rdMolDescriptors.CalcTPSA(m), weight, rotatable, aromatic])
    return np.array(found)


def blood_brain_barrier() -> Data:
    """SMILES and whether the molecule passes from blood to brain."""
    from rdkit import Chem, RDLogger

    path = _path("BBBP/BBBP.csv")
    if path:
        RDLogger.DisableLog("rdApp.*")  # eleven rows that RDKit cannot read are left out
        rows = [(r["smiles"], int(r["p_np"])) for r in _rows(path) if Chem.MolFromSmiles(r["smiles"])]
        source = "BBBP: measured molecules of MoleculeNet (Martins et al. 2012)"
        return Data(smiles=[s for s, _ in rows], passes=np.array([p for _, p in rows]), source=source)
    smiles = _made_up_molecules(900)
    P, rng = _properties(smiles), np.random.default_rng(1)
    odds = 1.2 * P[:, 0] - 0.09 * P[:, 1] + 1.5
    passes = (rng.random(len(smiles)) < 1 / (1 + np.exp(-2 * odds))).astype(int)
    return Data(smiles=smiles, passes=passes, source="made up: log odds of passing 2(1.2 logP − 0.09 TPSA + 1.5)")


def solubilities() -> Data:
    """SMILES and log₁₀ of the solubility in water, in mol/l."""
    path = _path("ESOL/ESOL.csv")
    if path:
        rows = _rows(path)
        y = np.array([float(r["measured log solubility in mols per litre"]) for r in rows])
        return Data(smiles=[r["smiles"] for r in rows], y=y, source="ESOL: measured solubilities (Delaney 2004)")
    smiles = _made_up_molecules(900)
    P, rng = _properties(smiles), np.random.default_rng(1)
    y = 0.16 - 0.63 * P[:, 0] - 0.0062 * P[:, 2] + 0.066 * P[:, 3] - 0.74 * P[:, 4]
    y += 0.3 * rng.standard_normal(len(y))
    return Data(smiles=smiles, y=y, source="made up: Delaney's formula and noise of 0.3")


def splice_sites() -> Data:
    """60 letters of human DNA around the end of an exon (1), at places 30 and 31 GT, or around anything else (0)."""
    path = _path("splice_uci/splice.csv.gz")
    if path:
        rows = {r["sequence"]: r["label"] for r in _rows(path) if r["label"] in ("EI", "N")}
        X = [x for x in rows if not set(x) - set("ACGT")]
        y = np.array([int(rows[x] == "EI") for x in X])
        return Data(X=X, y=y, source="UCI splice junctions of primates, each sequence once")
    rng = np.random.default_rng(0)
    letters = np.array(list("ACGT"))
    X = rng.choice(letters, (1600, 60), p=[0.26, 0.24, 0.25, 0.25])
    y = np.arange(1600) % 2
    donor = ["CA", "A", "G", "G", "T", "AG", "A", "G", "T"]  # (C|A)AG|GTRAGT
    for j, usual in enumerate(donor, 27):
        share = 1.0 if j in (30, 31) else 0.75
        kept = rng.random(1600) < share
        X[:, j] = np.where((y == 1) & kept, rng.choice(list(usual), 1600), X[:, j])
    return Data(
        X=["".join(x) for x in X], y=y, source="made up: random letters, in every second the site (C|A)AG|GTRAGT"
    )


def proteins() -> Data:
    """Proteins of one family and others; those to test on are of a family that is related, and was not seen."""
    names = [_path(f"FastSK_protein_SCOP/2.19.{part}.fasta.gz") for part in ("train", "test")]
    if all(names):
        parts = []
        for name in names:
            with gzip.open(name, "rt") as f:
                records = [record.split("\n", 1) for record in f.read().split(">")[1:]]
            parts.append(([r[1].replace("\n", "").upper() for r in records], np.array([int(r[0]) for r in records])))
        (X, y), (T, t) = parts
        return Data(X=X, y=y, X_test=T, y_test=t, source="SCOP, remote homology, 2.19 (as in Blakely et al. 2020)")
    rng = np.random.default_rng(0)
    letters = np.array(list("ARNDCQEGHILKMFPSTWYV"))

    def drift(parent: Any, changed: float, gaps: float = 0.03) -> Any:
        child = np.where(rng.random(len(parent)) < changed, rng.choice(letters, len(parent)), parent)
        child = child[rng.random(len(child)) > gaps]
        return np.insert(child, rng.integers(0, len(child), 4), rng.choice(letters, 4))

    ancestor = rng.choice(letters, 120)
    seen, unseen = drift(ancestor, 0.35), drift(ancestor, 0.35)
    others = ["".join(rng.choice(letters, rng.integers(80, 160))) for _ in range(800)]
    family = ["".join(drift(seen, 0.5)) for _ in range(60)]
    relatives = ["".join(drift(unseen, 0.5)) for _ in range(30)]
    return Data(
        X=family + others[:400], y=np.repeat([1, 0], [60, 400]), X_test=relatives + others[400:],
        y_test=np.repeat([1, 0], [30, 400]), source="made up: two branches that drift from one ancestor",
    )  # fmt: skip


def messages() -> Data:
    """Short messages, and whether they are spam."""
    path = _path("SMS_spam/SMSSpamCollection")
    if path:
        rows = [line.split("\t", 1) for line in path.read_text(encoding="utf-8").splitlines() if "\t" in line]
        rows = [(kind, text) for kind, text in rows if any(c.isalnum() for c in text)]  # one has no words at all
        texts, kinds = [text for _, text in rows], np.array([int(kind == "spam") for kind, _ in rows])
        return Data(texts=texts, spam=kinds, source="SMS Spam Collection (Almeida et al. 2011)")
    rng = np.random.default_rng(0)
    usual = "ok I you are see call home later love the at go will do not know when can come what time good lol"
    odd = "call free prize now claim win cash mobile text stop reply offer you have your to a the award urgent"
    texts, kinds = [], (rng.random(2500) < 0.15).astype(int)
    for kind in kinds:
        own = rng.choice((odd if kind else usual).split(), rng.integers(8, 16)).tolist()
        if kind:
            own.insert(int(rng.integers(len(own))), f"0{rng.integers(10**9, 10**10)}")
        if kind and rng.random() < 0.5:  # words spelt so that lists of words do not know them
            own = [w[:-1] + str(rng.integers(10)) + w[-1] if len(w) > 3 and rng.random() < 0.7 else w for w in own]
        texts.append(" ".join(own))
    return Data(texts=texts, spam=kinds, source="made up: words drawn from two lists, some of spam misspelt")


def abalones() -> Data:
    """A table of shells: sex (M, F, infant), sizes in mm, weights in g, and rings, which are years less 1.5."""
    names = ["length", "diameter", "height", "whole", "shucked", "viscera", "shell"]
    path = _path("abalone/abalone.bz2")
    if path:
        from sklearn.datasets import load_svmlight_file

        V, rings = load_svmlight_file(str(path), n_features=8)
        V = V.toarray()  # columns scaled to [−1, 1]; their ends, times 200, are these
        low = 200 * np.array([0.075, 0.055, 0.0, 0.002, 0.001, 0.0005, 0.0015])
        high = 200 * np.array([0.815, 0.65, 1.13, 2.8255, 1.488, 0.76, 1.005])
        sizes = list((low + (V[:, 1:] + 1) / 2 * (high - low)).T)
        sex, source = np.array(["M", "F", "I"])[V[:, 0].astype(int) + 1], "Abalone of Tasmania (Nash et al. 1994), UCI"
    else:
        rng = np.random.default_rng(0)
        rings = np.round(rng.gamma(9.0, 1.1, 2000))
        length = 130 * (1 - np.exp(-0.3 * rings)) * np.exp(0.08 * rng.standard_normal(2000))
        whole = 200 * 5.5 * (length / 200) ** 3 * np.exp(0.1 * rng.standard_normal(2000))
        shell = whole * (0.2 + 0.012 * rings) * np.exp(0.06 * rng.standard_normal(2000))
        sizes = [length, 0.8 * length, 0.27 * length, whole, 0.45 * whole, 0.2 * whole, shell]
        infant = rng.random(2000) < 1 / (1 + np.exp(1.5 * (rings - 8)))
        sex = np.where(infant, "I", rng.choice(["M", "F"], 2000))
        source = "made up: lengths 130(1 − exp(−0.3 rings)) mm, shells that grow heavier with age"
    return Data(columns={"sex": sex} | dict(zip(names, sizes, strict=True)), rings=rings, source=source)


def urine() -> Data:
    """Age in years of children, and the concentration of glycosaminoglycans (GAG) in their urine."""
    path = _path("quantile_small/GAGurine.csv")
    if path:
        V = np.array([[float(r["Age"]), float(r["GAG"])] for r in _rows(path)])
        return Data(age=V[:, 0], gag=V[:, 1], source="GAGurine: 314 children (Prosser; Venables and Ripley 2002)")
    rng = np.random.default_rng(0)
    age = 17 * rng.beta(0.7, 1.3, 314)
    gag = (3 + 20 * np.exp(-age / 2.5)) * np.exp(0.3 * rng.standard_normal(314))
    return Data(age=age, gag=gag, source="made up: (3 + 20 exp(−age/2.5)) times lognormal noise of 0.3")


def transformer(hours: int = 2000) -> Data:
    """Six loads of a transformer, hour by hour, and the temperature of its oil in °C."""
    path = _path("ETT_hourly/ETTh2.csv.gz")
    if path:
        names = ["HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL"]
        rows = _rows(path)[:hours]
        loads, oil = (np.array([[float(r[n]) for n in part] for r in rows]) for part in (names, ["OT"]))
        return Data(loads=loads, oil=oil, source="ETTh2: a transformer in China, from July 2016 (Zhou et al. 2021)")
    rng = np.random.default_rng(0)
    t = np.arange(hours)
    loads = np.empty((hours, 6))
    for j in range(6):
        noise = np.zeros(hours)
        for i in range(1, hours):
            noise[i] = 0.9 * noise[i - 1] + 0.4 * rng.standard_normal()
        loads[:, j] = 4 + (1.5 - 0.2 * j) * np.sin(2 * np.pi * (t - 8) / 24) + noise
    oil = np.full((hours, 1), 30.0)
    for i in range(1, hours):  # dT/dt = (20 + 2·mean load² − T)/5 h
        oil[i] = oil[i - 1] + (20 + 2 * np.mean(loads[i - 1] ** 2) - oil[i - 1]) / 5 + 0.3 * rng.standard_normal()
    return Data(loads=loads, oil=oil, source="made up: the oil follows the squared loads with a time constant of 5 h")


def gestures() -> Data:
    """The height of a hand, 150 frames: with a gun drawn from a holster (1), or pointing only (2)."""
    path = _path("ucr_small/GunPoint.npz")
    if path:
        with np.load(path) as z:
            X, T = (z[f"X_{part}"][:, 0].astype(float) for part in ("train", "test"))
            y, t = (z[f"y_{part}"].astype(int) for part in ("train", "test"))
        return Data(X=X, y=y, X_test=T, y_test=t, source="GunPoint of the UCR archive (Ratanamahatana and Keogh 2004)")
    rng = np.random.default_rng(0)
    frames, y = np.arange(150), 1 + np.arange(200) % 2
    X = np.empty((200, 150))
    for i, kind in enumerate(y):
        up, down = 40 + 6 * rng.standard_normal(), 105 + 6 * rng.standard_normal()
        X[i] = 1 / (1 + np.exp(-(frames - up) / 4)) - 1 / (1 + np.exp(-(frames - down) / 4))
        if kind == 1:  # to the holster and back
            X[i] += 0.18 * np.exp(-((frames - up + 16) ** 2) / 30) + 0.18 * np.exp(-((frames - down - 16) ** 2) / 30)
        X[i] += 0.02 * rng.standard_normal(150).cumsum() / 5
    X = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
    source = "made up: hands that rise and fall, and go to a holster before and after"
    return Data(X=X[:50], y=y[:50], X_test=X[50:], y_test=y[50:], source=source)


def flowers() -> Data:
    """Histograms of images by view, each summing to 1, and the class of each image."""
    path = _path("flowers17_histograms/flowers17.npz")
    if path:
        names = {"rgb512": "colours", "hsv256": "hues", "hsv256_center": "hues, centre", "lbp59": "texture"}
        with np.load(path) as z:
            views = {name: z[key].astype(float) for key, name in (names | {"phog168": "outlines"}).items()}
            source = "Flowers17: five histograms of 1360 photographs (Nilsback and Zisserman 2006)"
            y = z["y"].astype(int)
    else:
        from sklearn.datasets import load_digits

        images, y = load_digits().images[:1000], load_digits().target[:1000]
        dy, dx = np.gradient(images, axis=(1, 2))
        angle, size = np.arctan2(dy, dx) % (2 * np.pi), np.hypot(dx, dy)
        bins = (8 * angle / (2 * np.pi)).astype(int) % 8
        slopes = [[np.bincount(b.ravel(), s.ravel(), 8) for b, s in zip(bins, size, strict=True)]]
        grey = [np.bincount(i.astype(int).ravel(), minlength=17) for i in images]
        views = {"rows": images.sum(2), "columns": images.sum(1), "diagonals": np.empty((len(y), 15))}
        for j in range(15):
            views["diagonals"][:, j] = np.trace(images, j - 7, axis1=1, axis2=2)
        views |= {"slopes": np.array(slopes[0]), "greys": np.array(grey, float)}
        source = "digits of scikit-learn: five histograms of each image"
    return Data(views={n: H / H.sum(1, keepdims=True) for n, H in views.items()}, y=y, source=source)


def eruptions() -> Data:
    """Of a geyser: minutes that an eruption lasted, and minutes until the next one."""
    path = _path("quantile_small/geyser.csv")
    if path:
        V = np.array([[float(r["duration"]), float(r["waiting"])] for r in _rows(path)])
        X = np.column_stack([V[:-1, 0], V[1:, 1]])  # the file has the wait before
        return Data(X=X, source="Old Faithful in August 1985, each eruption and the wait after it (Azzalini 1990)")
    rng = np.random.default_rng(0)
    long = rng.random(298) < 0.65
    lasted = np.where(long, 4.3, 2.0) + np.where(long, 0.4, 0.25) * rng.standard_normal(298)
    wait = 30 + 11 * lasted + 6 * rng.standard_normal(298)
    return Data(X=np.column_stack([lasted, wait]), source="made up: short and long eruptions, waits 30 + 11·duration")


def disasters() -> Data:
    """How many explosions killed ten men or more in the coal mines of Britain, each year; these numbers are real."""
    counts = "454014340633402633545314415534252234213221111300101100310322"
    counts += "011101010002100011023311211112420014000100000100101"
    return Data(year=np.arange(1851, 1962), count=np.array([int(c) for c in counts]), source="Jarrett (1979)")


def concrete() -> Data:
    """Kilograms of what is in a cubic metre of concrete, its age in days, and its strength in MPa."""
    names = ["cement", "slag", "ash", "water", "plasticiser", "gravel", "sand", "age"]
    path = _path("uci_pbp/concrete.npz")
    if path:
        with np.load(path) as z:
            source = "1030 samples of concrete (Yeh 1998), UCI"
            return Data(X=z["X"].astype(float), y=z["y"].astype(float), names=names, source=source)
    rng = np.random.default_rng(0)
    low, high = np.array([[100, 0, 0, 140, 0, 800, 600], [540, 250, 150, 230, 20, 1100, 950]], float)
    X = np.column_stack([rng.uniform(low, high, (1000, 7)), rng.choice([3, 7, 14, 28, 90, 180, 365], 1000)])
    ratio = X[:, 3] / (X[:, 0] + 0.7 * X[:, 1] + 0.3 * X[:, 2])
    y = 100 / 5**ratio * np.log1p(X[:, 7]) / np.log(29) * (1 + 0.01 * X[:, 4]) + 3 * rng.standard_normal(1000)
    return Data(X=X, y=y, names=names, source="made up: 100/5^(water/binder) MPa after 28 days, growing as log age")


def speakers() -> Data:
    """Twelve cepstral coefficients of each frame of a vowel that a man said, and which of nine men; lengths vary."""
    path = _path("ucr_small/JapaneseVowels.npz")
    if path:
        found = []
        with np.load(path) as z:
            for part in ("train", "test"):
                ends = np.cumsum(z[f"len_{part}"])[:-1]
                found += [np.split(z[f"X_{part}_flat"].astype(float), ends), z[f"y_{part}"].astype(int)]
        X, y, T, t = found
        return Data(X=X, y=y, X_test=T, y_test=t, source="Japanese vowels (Kudo, Toyama and Shimbo 1999), UCI")
    rng = np.random.default_rng(0)
    begin, end = rng.standard_normal((2, 9, 12))  # of each man
    y = np.arange(640) % 9
    X = []
    for man in y:
        along = np.linspace(0, 1, rng.integers(8, 28))[:, None]
        path = begin[man] + along * (end[man] - begin[man]) + 0.6 * rng.standard_normal(12)
        X.append(path + 0.5 * rng.standard_normal((len(along), 12)))
    source = "made up: nine men whose frames wander from one point to another"
    return Data(X=X[:270], y=y[:270] + 1, X_test=X[270:], y_test=y[270:] + 1, source=source)


def digits() -> Data:
    """Grey images of written digits, values from −1 to 1, and which they are; ``shape`` is that of an image."""
    path = _path("usps/usps.npz")
    if path:
        with np.load(path) as z:
            X, T = z["X"] / 1000, z["X_test"] / 1000
            y, t, source = z["y"].astype(int), z["y_test"].astype(int), "USPS: digits of envelopes (LeCun et al. 1989)"
    else:
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        X, T, y, t, source = X[:1200] / 8 - 1, X[1200:] / 8 - 1, y[:1200], y[1200:], "digits of scikit-learn"
    side = int(np.sqrt(X.shape[1]))
    return Data(X=X, y=y, X_test=T, y_test=t, shape=(side, side), source=source)


def pages() -> Data:
    """Two views of pages: counts of 128 visual words of a picture, shares of ten topics of the text; and their kind."""
    path = _path("wiki_crossmodal/wiki.npz")
    if path:
        with np.load(path) as z:
            parts = [z[f"{view}_{part}"] for part in ("tr", "te") for view in "ITy"]
            kinds, source = z["classes"].tolist(), "2866 articles of Wikipedia (Rasiwasia et al. 2010)"
        (V, T, y), (W, S, t) = parts[:3], parts[3:]
        return Data(images=V, texts=T, y=y - 1, images_test=W, texts_test=S, y_test=t - 1, kinds=kinds, source=source)
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=1600)
    words, topics = rng.gamma(0.15, size=(10, 128)), rng.permutation(10)
    images, texts = np.empty((1600, 128)), np.empty((1600, 10))
    for i, kind in enumerate(y):
        images[i] = rng.multinomial(150, 0.3 * words[kind] / words[kind].sum() + 0.7 / 128) / 150
        texts[i] = rng.dirichlet(0.15 + 3.0 * (np.arange(10) == topics[kind]))
    kinds, source = [f"kind {j}" for j in range(10)], "made up: words and topics drawn from laws that ten kinds have"
    return Data(
        images=images[:1100], texts=texts[:1100], y=y[:1100], images_test=images[1100:], texts_test=texts[1100:],
        y_test=y[1100:], kinds=kinds, source=source,
    )  # fmt: skip


def deliveries() -> Data:
    """A table of meals brought home: when, from which shop, how far, what the customer wrote, and how long it took."""
    import pandas as pd

    rng = np.random.default_rng(0)
    n = 800
    when = pd.Timestamp("2025-01-06") + pd.to_timedelta(np.sort(rng.uniform(0, 180, n)).round(), unit="D")
    when = when + pd.to_timedelta(rng.integers(11 * 60, 22 * 60, n), unit="min")
    shops = np.array(["Aurora", "Bellini", "Corner", "Dragon", "Eastern"])
    shop, km = rng.integers(5, size=n), rng.gamma(3.0, 1.2, n).round(1)
    names = ["Abt", "Baur", "Cron", "Dietz", "Egli", "Frey", "Graf", "Huber", "Ihle", "Jost", "Klein", "Lutz", "Moser"]
    wishes = ["thank you", "please ring twice", "leave it at the door", "call when you are here", "no napkins please"]
    hindrances = ["third floor, stairs", "fifth floor and the lift is broken", "take the stairs on the left", "no lift"]
    climbs = rng.random(n) < 0.3
    bells = np.char.add(rng.choice(["ring at ", "bell of ", "the name is "], n), rng.choice(names, n))
    bells = np.char.add(np.char.add(bells, ", house "), rng.integers(1, 90, n).astype(str))
    note = np.char.add(np.char.add(bells, ", "), np.where(climbs, rng.choice(hindrances, n), rng.choice(wishes, n)))
    rush = np.exp(-(((when.hour + when.minute / 60).to_numpy() - 19) ** 2) / 2)
    minutes = 12 + np.array([0, 6, 2, 12, 4])[shop] + 2.5 * km * (1 + rush) + 7 * climbs + 3 * rng.standard_normal(n)
    frame = pd.DataFrame({"ordered": when, "shop": shops[shop], "km": km, "note": note, "minutes": minutes.round(1)})
    frame.loc[rng.random(n) < 0.08, "km"] = np.nan
    frame.insert(0, "order_id", rng.permutation(10**6)[:n])
    source = "made up: 12 + shop + 2.5 km, in the rush up to twice that, + 7 with stairs, and noise of 3 minutes"
    return Data(frame=frame, noise=3.0, source=source)
