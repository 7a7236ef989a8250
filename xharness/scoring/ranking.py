"""Mean average precision at 20 of ranked candidates (Mewsli-X, LAReQA), and the files that hold the rankings.

Both files are one JSON object. Predictions: query id to candidate ids, best first. Gold: query id to the ids of all
candidates that are right. That is the official layout for Mewsli-X, whose gold lists have one entity each; LAReQA has
the same here, since no official layout exists for it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from xharness.errors import InputError
from xharness.scoring.json_text import parse_json, place_of
from xharness.scoring.language_score import LanguageScore, constant_gold, gold_counts
from xharness.scoring.lines import read_bytes

#: Candidates of a query that count.
CUTOFF = 20


def average_precision(
    relevant: Collection[str], ranked: Sequence[str], cutoff: int = CUTOFF
) -> float:
    """Return the average precision of a ranking, as a fraction.

    The precision at the rank of each right candidate, summed and divided by as many right candidates as could be among
    the first ``cutoff`` (``average_precision_at_k`` of ``utils_lareqa.py``). A candidate that is repeated counts at its
    first place only. With a single right candidate this is its reciprocal rank, which is what the official script
    computes for Mewsli-X.

    >>> average_precision({"a", "b"}, ["a", "x", "b"])
    0.8333333333333333
    """
    hits = 0
    total = 0.0
    seen: set[str] = set()
    for rank, candidate in enumerate(ranked[:cutoff], start=1):
        if candidate in relevant and candidate not in seen:
            hits += 1
            total += hits / rank
        seen.add(candidate)
    return total / min(len(relevant), cutoff)


def score_rankings(predictions: Path, gold: Path) -> LanguageScore:
    """Score rankings by mean average precision at 20 in percent, named ``map@20`` as by the official script.

    A query without a ranking counts as 0; rankings of unknown queries and candidates beyond the twentieth are ignored
    and counted. As in the official script blanks around gold ids are taken off, those around predicted ids are not.

    Args:
        predictions: Candidate ids of each query, best first.
        gold: Ids of the right candidates of each query, one or more.

    Raises:
        InputError: A file is not of that form, or the gold file has no query or one without a right candidate.
    """
    relevant, gold_counter = read_relevant(gold)
    ranked, counts = read_rankings(predictions)
    total = 0.0
    for query, truth in relevant.items():
        total += average_precision(truth, ranked.get(query, ()))
    counts["examples"] = len(relevant)
    counts["unanswered"] = sum(not ranked.get(query) for query in relevant)
    counts["extra_ids"] = len(ranked.keys() - relevant.keys())
    counts["rankings_beyond_20"] = sum(len(names) > CUTOFF for names in ranked.values())
    counts["repeated_candidates"] = sum(
        len(names[:CUTOFF]) - len(set(names[:CUTOFF])) for names in ranked.values()
    )
    counts.update(gold_counts(gold_counter))
    same = [" ".join(sorted(truth)) for truth in set(relevant.values())]
    reason = constant_gold(same, len(relevant), gold)
    return LanguageScore.of({"map@20": total / len(relevant) * 100}, counts, reason)


def read_relevant(path: Path) -> tuple[dict[str, frozenset[str]], Counter[str]]:
    """Read the right candidates of each query, and count what needed mending.

    Raises:
        InputError: The file is not of that form, or has no query or one without a right candidate.
    """
    rankings, counts = read_rankings(path)
    if not rankings:
        raise InputError("no query in the file", where=path, mend="write {query: [candidate]}")
    relevant = {query: frozenset(map(str.strip, names)) for query, names in rankings.items()}
    for query, truth in relevant.items():
        if not truth:
            raise InputError(
                f"query {query!r} has no right candidate",
                where=place_of(query, path.read_bytes(), path),
                mend="add one, or leave the query out",
            )
    return relevant, counts


def read_rankings(path: Path) -> tuple[dict[str, list[str]], Counter[str]]:
    """Read candidate ids by query id, best first, and count what needed mending.

    Raises:
        InputError: The file is not of that form.
    """
    raw, counts = read_bytes(path)
    data, counts["duplicate_keys"] = parse_json(raw, path)
    # The official reader takes what stands below "data" in any file.
    if isinstance(data, dict) and isinstance(data.get("data"), dict):
        data = data["data"]
    if not isinstance(data, dict):
        raise InputError("not a JSON object", where=f"{path}:1", mend="write {query: [candidate]}")
    for key, value in data.items():
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise InputError(
                f"the candidates of {key!r} are not a list of strings but {json.dumps(value)[:40]}",
                where=place_of(key, raw, path),
                mend="write the candidates' ids, best first",
            )
    return data, counts
