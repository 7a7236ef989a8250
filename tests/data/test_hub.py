"""The hub as a data source: over HTTP from a loopback hub, from its cache, and from a local copy."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from xharness.data.hub import HubDataSource
from xharness.data.hub.rows import ROW_READERS
from xharness.errors import InputError
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec, placeholders

from .hub_repositories import Config, write_repository, xnli, xtreme
from .hub_server import Hub, Served, serve

OLD, NEW = (hashlib.sha1(name).hexdigest() for name in (b"old", b"new"))
#: The commit that task_specs/tasks/xnli.yaml pins.
NLI_COMMIT = "b8dd5d7af51114dbda02c0e3f6133f332186418e"

#: What is read in each way: by name, the task, split and language.
READS: dict[str, tuple[str, str, str]] = {
    "xnli-train": ("xnli", "train", "en"),
    "xnli-dev": ("xnli", "dev", "de"),
    "xnli-sw": ("xnli", "test", "sw"),
    "xnli-zh": ("xnli", "test", "zh"),
    "pawsx-train": ("pawsx", "train", "en"),
    "pawsx-de": ("pawsx", "test", "de"),
    "panx-vi": ("panx", "test", "vi"),
    "panx-dev": ("panx", "dev", "en"),
    "udpos-de": ("udpos", "test", "de"),
    "squad-train": ("xquad", "train", "en"),
    "xquad-zh": ("xquad", "test", "zh"),
    "mlqa-de": ("mlqa", "test", "de"),
    "tydiqa-train": ("tydiqa", "train", "en"),
    "tydiqa-fi": ("tydiqa", "test", "fi"),
    "tatoeba-de": ("tatoeba", "test", "de"),
}


def job(task: str, split: str, language: str, **more: Any) -> dict[str, Any]:
    return {"task": task, "split": split, "language": language, **more}


JOBS = {name: job(*what) for name, what in READS.items()}

ONLINE = {
    **JOBS,
    "tagged": job("pawsx", "test", "de", source={"revision": "v1"}),
    "by-commit": job("pawsx", "test", "de", source={"revision": NEW}),
    "mirror": job("pawsx", "test", "de", source={"repository": "mirror/xtreme", "revision": "v1"}),
    "limit-pairs": job("pawsx", "test", "de", limit=1),
    "limit-bitext": job("tatoeba", "test", "de", limit=2),
    "has-dev": job("xquad", "dev", "en", has=True),
    "has-no-dev": job("tydiqa", "dev", "en", has=True),
    "has-no-config": job("panx", "test", "th", has=True),
    "has-no-source": job("bucc2018", "test", "de", has=True),
    "no-config": job("panx", "test", "th"),
    "no-split": job(
        "pawsx", "train", "en", hub={"train": {"config": "PAWS-X.de", "split": "train"}}
    ),
    "no-language": job("xnli", "test", "ur"),
    "no-table": job("tydiqa", "dev", "en"),
    "no-column": job("pawsx", "test", "de", hub={"columns": {"premise": "sentence_1"}}),
    "no-format": job("pawsx", "test", "de", hub={"format": "pairs_rows"}),
    "no-label": job(
        "xnli",
        "test",
        "de",
        hub={
            "test": {"config": "PAWS-X.de", "split": "test"},
            "columns": {"premise": "sentence1", "hypothesis": "sentence2"},
        },
    ),
    "no-text": job(
        "pawsx",
        "test",
        "vi",
        hub={
            "test": {"config": "PAN-X.vi", "split": "test"},
            "columns": {"premise": "tokens", "hypothesis": "tokens", "label": "ner_tags"},
        },
    ),
    "twice": job("xquad", "test", "ru"),
    "no-revision": job("pawsx", "test", "de", source={"revision": "v9"}),
    "no-repository": job("pawsx", "test", "de", source={"repository": "google/absent"}),
    "mining": job("bucc2018", "test", "de"),
    "mining-pairs": job(
        "bucc2018",
        "test",
        "de",
        hub={
            "repository": "google/xtreme",
            "format": "parallel_rows",
            "test": {"config": "bucc18.{language}", "split": "test"},
            "columns": {"source": "source_sentence", "target": "target_sentence"},
        },
    ),
}


@dataclass(frozen=True)
class World:
    """A hub that was read from once, online, into an empty cache."""

    hub: Hub
    home: Path
    copies: Path
    online: dict[str, Any]


def run_client(
    jobs: dict[str, Any], folder: Path, endpoint: str, home: Path, **environment: str
) -> dict[str, Any]:
    """Run jobs in a process whose hub and cache are the given ones; nothing may be written to stderr."""
    folder.mkdir(parents=True, exist_ok=True)
    output = folder / "results.json"
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "TRANSFORMERS_"))}
    process = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("hub_client.py")), str(output)],
        input=json.dumps(jobs),
        env={**inherited, "HF_ENDPOINT": endpoint, "HF_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""
    assert process.stdout == ""
    document: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    return document


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    root = tmp_path_factory.mktemp("hub")
    copies = root / "copies"
    new = write_repository(copies / "google" / "xtreme", xtreme())
    nli = write_repository(copies / "facebook" / "xnli", xnli())
    # The same card as the other folder of that name, and other rows.
    old = write_repository(root / "old" / "xtreme", xtreme(paraphrase="0"))
    local = {f"local {name}": what for name, what in local_jobs(copies, old).items()}
    served = {
        "google/xtreme": Served({OLD: old, NEW: new}, {"main": NEW, "v1": OLD}),
        "mirror/xtreme": Served({OLD: old}, {"main": OLD, "v1": OLD}),
        "facebook/xnli": Served({NLI_COMMIT: nli}, {"main": NLI_COMMIT}),
    }
    with serve(served) as hub:
        online = run_client({**ONLINE, **local}, root / "online", hub.endpoint, root / "home")
    return World(hub, root / "home", copies, online)


@pytest.fixture(scope="session")
def results(world: World) -> dict[str, Any]:
    return dict(world.online["results"])


def pairs(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(e["id"], e["premise"], e["label"]) for e in result["examples"]]


def answers(result: dict[str, Any]) -> list[tuple[str, list[tuple[str, int]]]]:
    return [(e["id"], [(a["text"], a["start"]) for a in e["answers"]]) for e in result["examples"]]


def test_everything_reads(results: dict[str, Any]) -> None:
    assert {name: results[name].get("error") for name in READS} == dict.fromkeys(READS)


def test_pairs_of_one_language_are_taken_from_the_table_of_all(results: dict[str, Any]) -> None:
    assert pairs(results["xnli-sw"]) == [
        ("1", "Paka amelala.", "contradiction"),
        ("2", "Mvua inanyesha.", "entailment"),
    ]
    assert results["xnli-sw"]["counts"] == {"rows_without_gold_label": 1}
    assert [label for *_, label in pairs(results["xnli-zh"])] == ["neutral", "contradiction"]
    assert results["xnli-zh"]["counts"] == {"label_alias_contradictory": 1}


def test_class_labels_count_by_name_not_by_number(results: dict[str, Any]) -> None:
    # facebook/xnli numbers entailment 0, neutral 1, contradiction 2, and -1 for no gold label; the
    # specification's own order is contradiction, entailment, neutral.
    labels = [label for *_, label in pairs(results["xnli-train"])]
    assert labels == ["entailment", "neutral", "contradiction"]
    assert results["xnli-train"]["counts"] == {"rows_without_gold_label": 1}
    assert results["xnli-train"]["origin"] == {
        "repository": "facebook/xnli",
        "config": "en",
        "split": "train",
        "revision": NLI_COMMIT,
    }


def test_placeholder_rows_are_kept_and_counted(results: dict[str, Any]) -> None:
    assert [label for *_, label in pairs(results["pawsx-de"])] == ["0", "0", "1"]
    assert results["pawsx-de"]["counts"] == {"placeholder_rows": 1}
    assert results["pawsx-train"]["counts"] == {"placeholder_rows": 1}


def test_tags(results: dict[str, Any]) -> None:
    first, second = results["panx-vi"]["examples"]
    assert first == {
        "id": "1",
        "words": ["Sông", "Hồng", "", "\u3000"],
        "tags": ["B-LOC", "I-LOC", "O", "O"],
    }
    assert second["id"] == "2"
    assert second["tags"] == ["B-ORG", "I-ORG", "O"]
    assert results["panx-vi"]["counts"] == {"empty_tokens": 1, "sentences_without_token": 1}
    assert results["udpos-de"]["examples"] == [
        {"id": "1", "words": ["zu", "dem", "See"], "tags": ["ADP", "DET", "NOUN"]},
        {"id": "2", "words": ["10 000"], "tags": ["NUM"]},
    ]


def test_note_of_the_specification_is_in_the_origin(results: dict[str, Any]) -> None:
    assert results["udpos-de"]["origin"] == {
        "repository": "google/xtreme",
        "config": "udpos.German",
        "split": "test",
        "revision": NEW,
        "note": load(TaskSpec, "udpos").sources.hub.note,
    }


def test_questions_and_their_offsets(results: dict[str, Any]) -> None:
    assert answers(results["mlqa-de"]) == [("m1", [("Ulm", 19)])]
    assert answers(results["xquad-zh"]) == [("x1", [("海边", 4)])]
    assert results["xquad-zh"]["counts"] == {"repaired_offsets": 1}
    assert answers(results["squad-train"]) == [
        ("t1", [("lime trees", 11)]),
        ("t1#2", [("deep", 12)]),
    ]
    assert results["squad-train"]["counts"] == {
        "blank_answers": 1,
        "answers_not_in_context": 1,
        "questions_without_answer": 2,
        "repeated_ids": 1,
    }


def test_languages_of_tydiqa_are_told_by_the_id(results: dict[str, Any]) -> None:
    assert answers(results["tydiqa-train"]) == [("english-1", [("Ice", 0)])]
    assert answers(results["tydiqa-fi"]) == [
        ("finnish-2", [("vedessä", 11)]),
        ("finnish-3", [("Lumi", 0)]),
    ]
    assert results["tydiqa-fi"]["counts"] == {"repaired_offsets": 1}


def test_bitext(results: dict[str, Any]) -> None:
    (bitext,) = results["tatoeba-de"]["examples"]
    assert bitext["source"] == {
        "ids": ["0", "1", "2"],
        "texts": ["Ich höre Musik.", "Wo ist der Hafen?", "Er lacht."],
    }
    assert bitext["target"]["texts"] == ["I hear music.", "Where is the harbour?", "He laughs."]
    assert bitext["gold"] == [["0", "0"], ["1", "1"], ["2", "2"]]
    assert results["tatoeba-de"]["counts"] == {"line_ends_in_cells": 4}


def test_limits(results: dict[str, Any]) -> None:
    assert len(results["limit-pairs"]["examples"]) == 1
    assert results["limit-pairs"]["available"] == 3
    (bitext,) = results["limit-bitext"]["examples"]
    assert (len(bitext["source"]["ids"]), len(bitext["target"]["ids"])) == (2, 3)


def test_revision_of_the_user_is_read_and_resolved(results: dict[str, Any]) -> None:
    assert [
        results[name]["examples"][2]["label"] for name in ("pawsx-de", "tagged", "by-commit")
    ] == [
        "1",
        "0",
        "1",
    ]
    assert results["tagged"]["origin"]["revision"] == OLD
    assert results["tagged"]["describe"] == {"source": "hub", "revision": "v1"}
    # A branch and the commit that it stands for are the same data.
    assert results["by-commit"]["fingerprint"] == results["pawsx-de"]["fingerprint"]
    assert results["tagged"]["fingerprint"] != results["pawsx-de"]["fingerprint"]


def test_repository_of_the_user_is_read(results: dict[str, Any]) -> None:
    assert results["mirror"]["origin"]["repository"] == "mirror/xtreme"
    assert results["mirror"]["examples"] == results["tagged"]["examples"]


def test_has(results: dict[str, Any]) -> None:
    names = ("has-dev", "has-no-dev", "has-no-config", "has-no-source")
    assert [results[name]["has"] for name in names] == [True, False, False, False]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("no-config", [f"google/xtreme@{NEW[:12]}", "'PAN-X.th'", "nearest there: PAN-X"]),
        ("no-split", ["PAWS-X.de has no split 'train'", "splits: test"]),
        ("no-language", ["google/xtreme/XNLI/test", "language is 'ur'", "sw, zh, en"]),
        ("no-table", ["task tydiqa has no dev split"]),
        ("no-column", ["'sentence_1'", "premise", "sentence1, sentence2, label"]),
        ("no-format", ["'pairs_rows'", "did you mean 'pair_rows'"]),
        ("no-label", ["google/xtreme/PAWS-X.de/test:1", "label '0'", "entailment"]),
        ("no-text", ["google/xtreme/PAN-X.vi/test:1", "'tokens'", "text is expected"]),
        ("twice", ["google/xtreme/XQuAD.ru/validation: r", "question id occurs twice"]),
        ("no-revision", ["google/xtreme@v9", "no revision 'v9'"]),
        ("no-repository", ["google/absent@main", "no such data set"]),
        ("mining", ["bucc2018", "gold pairs only", "no corpus to mine", "--data DIR"]),
        ("mining-pairs", ["google/xtreme/bucc18.de/test", "no corpus to mine"]),
    ],
)
def test_errors_name_place_and_mend(results: dict[str, Any], name: str, parts: list[str]) -> None:
    message = results[name]["error"]
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_nothing_but_the_endpoint_is_called(world: World) -> None:
    assert world.online["hosts"] == ["127.0.0.1"]


@pytest.fixture(scope="session")
def offline(world: World, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    jobs = {
        **JOBS,
        "old": job("pawsx", "test", "de", source={"revision": "v1"}),
        "again": job("pawsx", "test", "de", source={"revision": NEW}),
        "old-uncached": job("panx", "test", "vi", source={"revision": "v1"}),
        "absent": job("pawsx", "test", "de", source={"repository": "google/absent"}),
        "no-config": job("panx", "test", "th"),
        "uncached": job("udpos", "train", "en"),
        "has-dev": job("xquad", "dev", "en", has=True),
    }
    folder = tmp_path_factory.mktemp("offline")
    return run_client(jobs, folder, world.hub.endpoint, world.home, HF_HUB_OFFLINE="1")


def test_cache_alone_gives_the_same_data(offline: dict[str, Any], results: dict[str, Any]) -> None:
    assert {name: offline["results"][name] for name in READS} == {
        name: results[name] for name in READS
    }
    assert offline["results"]["has-dev"] == {"has": True}
    assert offline["hosts"] == []


def test_cache_never_answers_with_another_commit(
    offline: dict[str, Any], results: dict[str, Any]
) -> None:
    # PAWS-X.de is cached at two commits; datasets by itself offers the one that it wrote last to both.
    for name, online in (("pawsx-de", "pawsx-de"), ("old", "tagged"), ("again", "pawsx-de")):
        assert offline["results"][name]["examples"] == results[online]["examples"]
        assert offline["results"][name]["origin"] == results[online]["origin"]
    message = offline["results"]["old-uncached"]["error"]
    assert f"is cached at {NEW} only, not at {OLD}" in message


def test_what_is_not_cached_is_refused(offline: dict[str, Any]) -> None:
    messages = {name: offline["results"][name].get("error") for name in offline["results"]}
    assert "cache does not hold this revision" in messages["absent"]
    assert "udpos.English train cannot be loaded: the hub cannot be reached" in messages["uncached"]
    assert "no configuration 'PAN-X.th'" in messages["no-config"]


def local_jobs(copies: Path, other: Path) -> dict[str, Any]:
    """Jobs on a folder of copies, on one copy alone, and on another folder of that copy's name."""
    alone = copies / "google" / "xtreme"

    def read(folder: Path, task: str, split: str, language: str, **more: Any) -> dict[str, Any]:
        source = {"repository": str(folder), **more.pop("source", {})}
        return job(task, split, language, source=source, **more)

    return {
        **{name: read(copies, *what) for name, what in READS.items()},
        "alone": read(alone, "pawsx", "test", "de"),
        "other": read(other, "pawsx", "test", "de"),
        "no-copy": read(alone, "xnli", "train", "en"),
        "has-no-copy": read(alone, "xnli", "train", "en", has=True),
        "has": read(alone, "xnli", "test", "de", has=True),
        "no-config": read(alone, "panx", "test", "th"),
        "revision": read(alone, "xnli", "test", "en", source={"revision": "v1"}),
        "no-card": read(copies / "google", "xnli", "test", "en"),
        "no-folder": read(Path("/no/such/folder"), "xnli", "test", "en"),
    }


@pytest.fixture(scope="session")
def local(world: World) -> dict[str, Any]:
    found = world.online["results"].items()
    return {name.removeprefix("local "): r for name, r in found if name.startswith("local ")}


def test_local_copy_gives_the_same_examples(local: dict[str, Any], results: dict[str, Any]) -> None:
    for name in READS:
        for key in ("examples", "counts", "available"):
            assert local[name].get(key) == results[name][key], name


def test_local_copy_is_known_by_its_digest(local: dict[str, Any]) -> None:
    origin = local["pawsx-de"]["origin"]
    assert origin["repository"] == "google/xtreme"
    assert origin["revision"].startswith("sha256:")
    assert len(origin["revision"]) == len("sha256:") + 64
    assert local["alone"]["fingerprint"] == local["pawsx-de"]["fingerprint"]
    assert local["panx-vi"]["origin"]["revision"] != origin["revision"]
    assert local["pawsx-de"]["describe"] == {"source": "hub copy", "folder": "copies"}


def test_folders_of_one_name_are_not_mixed_up(local: dict[str, Any]) -> None:
    assert [e["label"] for e in local["alone"]["examples"]] == ["0", "0", "1"]
    assert [e["label"] for e in local["other"]["examples"]] == ["0", "0", "0"]
    assert local["other"]["origin"]["revision"] != local["alone"]["origin"]["revision"]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("no-copy", ["no copy of facebook/xnli", "facebook/xnli)"]),
        ("no-config", ["google/xtreme", "no configuration 'PAN-X.th'"]),
        ("revision", ["a local folder has no revision 'v1'"]),
        ("no-card", ["no README.md"]),
        ("no-folder", ["/no/such/folder", "no such folder"]),
    ],
)
def test_errors_of_local_copies(local: dict[str, Any], name: str, parts: list[str]) -> None:
    for part in parts:
        assert part in local[name]["error"]


def test_has_needs_the_copy(local: dict[str, Any]) -> None:
    assert local["has-no-copy"] == {"has": False}
    assert local["has"] == {"has": True}


def test_every_table_of_the_specifications_is_within_reach() -> None:
    """Each hub section names a format that exists, and placeholders that can be filled."""
    for name in {task for task, *_ in READS.values()}:
        task = load(TaskSpec, name)
        hub = task.sources.hub
        assert hub is not None
        assert hub.format in ROW_READERS
        for language in task.languages:
            assert hub.test.config is not None
            assert "{" not in hub.test.config.format_map(placeholders(language, hub.names))


def test_folder_without_a_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        HubDataSource(repository=str(tmp_path / "absent"))


def test_card_that_does_not_read_is_refused(tmp_path: Path) -> None:
    write_repository(tmp_path, {"XNLI": Config({}, {})})
    (tmp_path / "README.md").write_text("---\nconfigs: [\n---\n", encoding="utf-8")
    source = HubDataSource(repository=str(tmp_path))
    with pytest.raises(InputError, match=r"README\.md: the card's metadata do not read"):
        source.has(load(TaskSpec, "xnli"), "test", "en")


@pytest.mark.slow
def test_hub_that_does_not_answer(tmp_path: Path) -> None:
    """Without HF_HUB_OFFLINE the client retries for about 25 s before it gives up."""
    jobs = {"read": job("pawsx", "test", "de")}
    found = run_client(jobs, tmp_path, "http://127.0.0.1:9", tmp_path / "home")
    assert "google/xtreme@main: the hub cannot be reached" in found["results"]["read"]["error"]
    assert "HF_HOME" in found["results"]["read"]["error"]
