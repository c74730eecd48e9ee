"""Predict the activity of molecules from their structure, rank them, and say which paths and atoms push the activity up
or down.

    python examples/molecule_activity.py [table.csv SMILES_COLUMN LABEL_COLUMN] [--out report]

Without a table: 120 small molecules put together from fragments, "active" where they have an amide, acid or amidine,
with one label in twenty turned round. The kernel is that of Ralaivola et al. 2005: common paths of labelled atoms and
bonds, over all paths of both. A prediction is a sum over the paths of the molecule, so the explanation is the
prediction itself, taken apart.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from rdkit import Chem
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import mercer as mc

PATHS = mc.PathBag(5).atoms(charge=True, chirality=True)


def made_up(n: int = 120) -> tuple[list[str], Any]:
    rng = np.random.default_rng(0)
    rings, links = ["c1ccccc1", "c1ccncc1", "C1CCCCC1", "c1ccoc1"], ["", "C", "CC", "O", "N"]
    ends = ["C", "CC", "Cl", "CN(C)", "NC(=O)", "OC(=O)", "NC(=N)", "CO", "N#C"]
    smiles = [f"{rng.choice(ends)}{rng.choice(links)}{rng.choice(rings)}" for _ in range(n)]
    pattern = Chem.MolFromSmarts("[#6X3](=[#7,#8])[#7,#8]")
    y = np.array([Chem.MolFromSmiles(s).HasSubstructMatch(pattern) for s in smiles])
    return smiles, np.where(rng.random(n) < 0.05, ~y, y).astype(int)


def main(arguments: list[str]) -> None:
    out = Path(arguments[arguments.index("--out") + 1]) if "--out" in arguments else None
    given = [a for k, a in enumerate(arguments) if a != "--out" and (k == 0 or arguments[k - 1] != "--out")]
    if given:
        frame = mc.read_table(given[0])
        rows = [
            (s, int(v > 0))
            for s, v in zip(frame[given[1]].to_list(), frame[given[2]].to_list(), strict=True)
            if s and Chem.MolFromSmiles(s)
        ]
        print(f"{len(frame) - len(rows)} of {len(frame)} rows without a molecule that RDKit can read are left out")
        smiles, y = [s for s, _ in rows], np.array([v for _, v in rows])
    else:
        smiles, y = made_up()
    train, test, y_train, y_test = train_test_split(smiles, y, test_size=0.25, stratify=y, random_state=0)
    search = mc.KernelSearchCV(
        mc.SVC(kernel=mc.Tanimoto(PATHS)), {"C": [0.3, 1.0, 3.0, 10.0]}, cv=5, scoring="roc_auc"
    ).fit(train, y_train)
    machine = search.best_estimator_
    scores = machine.decision_function(test)
    print(
        f"{len(train)} molecules to learn from, {len(test)} to rank; C = {machine.C:g}, AUC in 5 folds"
        f" {search.best_score_:.3f}"
    )
    print(f"AUC on those ranked: {roc_auc_score(y_test, scores):.3f}; {len(machine.support_)} molecules are kept\n")
    print("rank  score  active  molecule                      pushed up by / held down by")
    best = np.argsort(-scores)[:8]
    first = [test[i] for i in best]
    for rank, (i, told) in enumerate(zip(best, mc.explain(machine, first, "feature"), strict=True), 1):
        assert abs(told.total - scores[i]) < 1e-3  # the parts are the whole
        order = [told.names[p] for p in np.argsort(told.values)]
        print(
            f"{rank:4d}  {scores[i]:5.2f}  {'yes' if y_test[i] else 'no':<6}  {test[i]:<28}  {', '.join(order[:-4:-1])}"
            f" / {', '.join(order[:2])}"
        )
    pictures = [(s, mc.MoleculeDisplay.from_estimator(machine, s).svg_) for s in first]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        body = "".join(
            f"<figure>{svg}<figcaption>{name}: {scores[i]:.2f}</figcaption></figure>"
            for i, (name, svg) in zip(best, pictures, strict=True)
        )
        (out / "activity.html").write_text(
            f"<!doctype html><meta charset='utf-8'><title>Activity</title>{body}", encoding="utf-8"
        )
        print(f"\npictures in {out / 'activity.html'}")


if __name__ == "__main__":
    main(sys.argv[1:])
