"""Look into encoders with every ``xharness analyze`` verb, and keep the figures and what they say of the papers.

    python scripts/reproduce_analyses.py --set NAME --data FOLDER [--words FOLDER] [--treebanks FOLDER] MODEL...
    python scripts/reproduce_analyses.py --report

``--set`` names the folder of ``leaderboards/analysis`` that the JSON and figures go to; sets ``NAME-seed-1``,
``NAME-seed-2`` are read as one, and a verdict is what all of them say. All models are given to a verb at once, since
some statements compare encoders. A verb whose JSON is there is not run again; what lacks its data is
left out and said. ``--data`` is a folder in XTREME's layout, ``--words`` one of rated word pairs,
``--treebanks`` one of CoNLL-U files. The report is ``leaderboards/analysis/README.md``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from xharness.analysis.reproductions import by_seed, read_statements
from xharness.analysis.statements import MEANING, agreed, statement_table, without_seed
from xharness.files import write_text
from xharness.leaderboards.rendering.markdown import escaped

ROOT: Final = Path(__file__).resolve().parents[1]
RESULTS: Final = ROOT / "leaderboards" / "analysis"

#: What each verb needs beside ``--data``.
VERBS: Final = ("retrieval", "embeddings", "probing", "fertility", "layers")


def main() -> None:
    """Do what is missing, then write the report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--set", help="folder of the results")
    parser.add_argument("--data", type=Path, help="data folder in XTREME's layout")
    parser.add_argument("--words", type=Path, help="folder of rated word pairs")
    parser.add_argument("--treebanks", type=Path, help="folder of CoNLL-U files")
    parser.add_argument("--languages", default="de,en,es,fr", help="test languages")
    parser.add_argument("--pairs", default="de,es,fr", help="languages of retrieval")
    parser.add_argument("--limit", type=int, default=500, help="examples a language")
    parser.add_argument("--limit-train", type=int, default=2000, help="training examples")
    parser.add_argument(
        "--records", action="append", help="run whose scores fertility is drawn beside"
    )
    parser.add_argument("--recipe", help="recipe of the layers' fine-tuning")
    parser.add_argument("--seeds", default="1,2", help="its seeds")
    parser.add_argument("--drop", type=int, default=2, help="layers to drop at most")
    parser.add_argument("--only", default=",".join(VERBS), help="verbs, separated by commas")
    parser.add_argument("--dtype", default="float32", help="float32, bfloat16 or auto")
    parser.add_argument("--work", type=Path, default=ROOT / "runs" / "analysis")
    parser.add_argument("--report", action="store_true", help="only write the report")
    options = parser.parse_args()
    if not options.report:
        if not (options.models and options.set and options.data):
            parser.error("MODEL, --set and --data are needed")
        for verb in options.only.split(","):
            for name, arguments in calls(verb, options):
                analyze(verb, arguments, RESULTS / options.set / name)
    write_text(RESULTS / "README.md", report())


def calls(verb: str, options: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each result of a verb, and the verb's arguments."""
    from xharness.analysis.encoders import model_name

    models, limit = list(options.models), ["--limit", str(options.limit)]
    train = ["--limit-train", str(options.limit_train)]
    data, languages = ["--data", str(options.data)], ["--languages", options.languages]
    dtype = ["--dtype", options.dtype]
    if verb == "retrieval":
        yield verb, [*models, *data, "--languages", options.pairs, *limit, *dtype]
    elif verb == "embeddings" and options.words:
        words = [
            f"--words={path}" for path in sorted(options.words.iterdir()) if path.suffix != ".md"
        ]
        yield verb, [*models, *words]
    elif verb == "probing":
        treebanks = ["--treebanks", str(options.treebanks)] if options.treebanks else []
        yield verb, [*models, *data, *treebanks, *languages, *limit, *train, *dtype]
    elif verb == "fertility":
        for model in models:
            records = [f"--records={path}" for path in options.records or ()]
            yield f"{verb}-{model_name(model)}", [model, *data, *records]
    elif verb == "layers":
        recipe = ["--recipe", options.recipe] if options.recipe else []
        for model in models:
            name = f"{verb}-{model_name(model)}"
            kept = ["--output", str(options.work / options.set / name)]
            task = ["--task", "udpos", "--task", "panx"]
            how = [*recipe, "--seeds", options.seeds, "--drop", str(options.drop), *kept]
            yield name, [model, *task, *data, *languages, *limit, *train, *dtype, *how]
    else:
        print(f"{verb}: left out, its data are not given", file=sys.stderr)


def analyze(verb: str, arguments: list[str], result: Path) -> None:
    """Run a verb unless its result is there."""
    file = result.with_suffix(".json")
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    # Fertility is drawn beside scores, which need a run.
    drawn = verb != "fertility" or any(one.startswith("--records") for one in arguments)
    figure = [f"--figure={result.with_suffix('.svg')}"] if drawn else []
    command = [
        sys.executable,
        "-m",
        "xharness",
        "analyze",
        verb,
        *arguments,
        f"--json={file}",
        *figure,
    ]
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"xharness analyze {verb} ended with exit code {done.returncode}")


def report() -> str:
    """Return the page: every statement of every result, and links to figures and JSON."""
    parts = [
        "# Analyses",
        "",
        "What the papers state, and whether it shows in the encoders here. Made by",
        "`python scripts/reproduce_analyses.py`; the figures stand in the JSON files.",
        "Sets that differ in their seed alone are read as one; any other checkpoint stands for itself.",
        "",
        MEANING,
    ]
    shown = ""
    for files in by_seed(RESULTS.glob("*/*.json")):
        if (name := without_seed(files[0].parent.name)) != shown:
            shown = name
            parts += ["", f"## {escaped(name)}"]
        parts += ["", f"### {escaped(without_seed(files[0].stem))}", "", *map(links, files)]
        statements = agreed({file.parent.name: read_statements(file) for file in files})
        if statements:
            shown_safely = [
                replace(one, text=escaped(one.title), figures=escaped(one.figures), subject="")
                for one in statements
            ]
            parts += ["", statement_table(shown_safely)]
    return "\n".join([*parts, ""])


def links(file: Path) -> str:
    """Return links to a result and its drawing."""
    place = f"{file.parent.name}/{file.stem}"
    text = f"- {escaped(place)}: [figures]({place}.json)"
    return text + (f", [drawing]({place}.svg)" if file.with_suffix(".svg").exists() else "")


if __name__ == "__main__":
    main()
