"""Small data set repositories in the layout of google/xtreme and facebook/xnli, written for these tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

Rows = list[dict[str, Any]]

TEXT = {"dtype": "string"}
ANSWERS = {
    "sequence": [{"name": "answer_start", "dtype": "int32"}, {"name": "text", "dtype": "string"}]
}
NER = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC")
UPOS_TAGS = """
ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X
"""
UPOS = tuple(UPOS_TAGS.split())


def class_label(*names: str) -> dict[str, Any]:
    return {"class_label": {"names": {str(i): name for i, name in enumerate(names)}}}


@dataclass(frozen=True)
class Config:
    """A configuration: its features as a card lists them, and the rows of each split."""

    features: Mapping[str, Any]
    splits: Mapping[str, Rows]


NLI = {"language": TEXT, "sentence1": TEXT, "sentence2": TEXT, "gold_label": TEXT}
MNLI = {
    "premise": TEXT,
    "hypothesis": TEXT,
    "label": {"dtype": class_label("entailment", "neutral", "contradiction")},
}
PAIR = {"sentence1": TEXT, "sentence2": TEXT, "label": TEXT}
QA = {"id": TEXT, "title": TEXT, "context": TEXT, "question": TEXT, "answers": ANSWERS}
SENTENCES = {
    "source_sentence": TEXT,
    "target_sentence": TEXT,
    "source_lang": TEXT,
    "target_lang": TEXT,
}
PANX = {
    "tokens": {"sequence": "string"},
    "ner_tags": {"sequence": class_label(*NER)},
    "langs": {"sequence": "string"},
}
UDPOS = {"tokens": {"sequence": "string"}, "pos_tags": {"sequence": class_label(*UPOS)}}


def nli(language: str, premise: str, hypothesis: str, label: str) -> dict[str, Any]:
    return {
        "language": language,
        "sentence1": premise,
        "sentence2": hypothesis,
        "gold_label": label,
    }


def qa(name: str, context: str, question: str, *answers: tuple[str, int]) -> dict[str, Any]:
    return {
        "id": name,
        "title": "",
        "context": context,
        "question": question,
        "answers": {
            "answer_start": [start for _, start in answers],
            "text": [text for text, _ in answers],
        },
    }


def tagged(column: str, names: tuple[str, ...], *pairs: tuple[str, str]) -> dict[str, Any]:
    return {
        "tokens": [word for word, _ in pairs],
        column: [names.index(tag) for _, tag in pairs],
    }


def xtreme(paraphrase: str = "1") -> dict[str, Config]:
    """The configurations of a small XTREME; ``paraphrase`` is the gold label of one German pair."""
    return {
        "XNLI": Config(
            NLI,
            {
                "validation": [
                    nli("en", "The kettle hums.", "Something makes a sound.", "entailment"),
                    nli("de", "Der Kessel summt.", "Alles ist still.", "contradictory"),
                ],
                "test": [
                    nli("sw", "Paka amelala.", "Paka anakimbia.", "contradiction"),
                    nli("zh", "湖面结冰了。", "天气很冷。", "neutral"),
                    nli("sw", "Mvua inanyesha.", "Kuna maji angani.", "entailment"),
                    nli("sw", "Juma anapika.", "Juma ana njaa.", "-"),
                    nli("zh", "她读完了那本书。", "她没有书。", "contradictory"),
                    nli("en", 'A sign says "open', "The shop is shut.", "contradiction"),
                ],
            },
        ),
        "PAWS-X.en": Config(
            PAIR,
            {
                "train": [
                    {"sentence1": "Mill lane ends here .", "sentence2": "x", "label": "0"},
                    {"sentence1": "NS", "sentence2": "NS", "label": "0"},
                ],
                "validation": [{"sentence1": "a b", "sentence2": "b a", "label": "1"}],
                "test": [{"sentence1": "c d", "sentence2": "d c", "label": "0"}],
            },
        ),
        "PAWS-X.de": Config(
            PAIR,
            {
                "test": [
                    {"sentence1": "Erst Ost , dann West .", "sentence2": "NS", "label": "0"},
                    {"sentence1": "Ulf grüßt Ida .", "sentence2": "Ida grüßt Ulf .", "label": "0"},
                    {"sentence1": "Es taut .", "sentence2": "Tauwetter .", "label": paraphrase},
                ]
            },
        ),
        "PAN-X.en": Config(
            PANX,
            {
                "train": [tagged("ner_tags", NER, ("Ida", "B-PER"), ("sings", "O"))],
                "validation": [tagged("ner_tags", NER, ("Oslo", "B-LOC"))],
                "test": [tagged("ner_tags", NER, ("Rome", "B-LOC"))],
            },
        ),
        "PAN-X.vi": Config(
            PANX,
            {
                "test": [
                    tagged(
                        "ner_tags",
                        NER,
                        ("Sông", "B-LOC"),
                        ("Hồng", "I-LOC"),
                        ("", "O"),
                        ("\u3000", "O"),
                    ),
                    {"tokens": [], "ner_tags": []},
                    tagged("ner_tags", NER, ("Ủy", "B-ORG"), ("ban", "I-ORG"), ('"', "O")),
                ]
            },
        ),
        "udpos.English": Config(
            UDPOS,
            {
                "train": [tagged("pos_tags", UPOS, ("Snow", "NOUN"), ("falls", "VERB"))],
                "validation": [tagged("pos_tags", UPOS, ("Wait", "VERB"), ("!", "PUNCT"))],
                "test": [tagged("pos_tags", UPOS, ("Quiet", "ADJ"))],
            },
        ),
        "udpos.German": Config(
            UDPOS,
            {
                "test": [
                    tagged("pos_tags", UPOS, ("zu", "ADP"), ("dem", "DET"), ("See", "NOUN")),
                    tagged("pos_tags", UPOS, ("10 000", "NUM")),
                ]
            },
        ),
        "SQuAD": Config(
            QA,
            {
                "train": [
                    qa("t1", "Ana plants lime trees.", "What does Ana plant?", ("lime trees", 11)),
                    qa("t2", "Ana plants lime trees.", "Who plants?", ("   ", 0)),
                    qa("t1", "The well is deep.", "How is it?", ("deep", 12)),
                    qa("t3", "The well is deep.", "Where is it?", ("in Bern", 3)),
                ],
                "validation": [qa("v1", "Bo is tall.", "Who is tall?", ("Bo", 0), ("Bo", 0))],
            },
        ),
        "XQuAD.en": Config(QA, {"validation": [qa("x1", "Bo is tall.", "Who?", ("Bo", 0))]}),
        "XQuAD.zh": Config(
            QA,
            # The context lost the blank that its start still counts.
            {"validation": [qa("x1", "小明住在海边。", "小明住在哪里？", ("海边", 5))]},
        ),
        "XQuAD.ru": Config(
            QA,
            {"validation": [qa("r", "Снег.", "Что?", ("Снег", 0)), qa("r", "Лёд.", "Что?")]},
        ),
        "MLQA.de.de": Config(
            QA,
            {
                "validation": [qa("m0", "Es regnet.", "Was?", ("regnet", 3))],
                "test": [qa("m1", "Die Mühle steht in Ulm.", "Wo steht sie?", ("Ulm", 19))],
            },
        ),
        "tydiqa": Config(
            QA,
            {
                "train": [
                    qa("english-1", "Ice floats.", "What floats?", ("Ice", 0)),
                    qa("finnish-1", "Jää kelluu.", "Mikä kelluu?", ("Jää", 0)),
                ],
                "validation": [
                    # A start in UTF-8 bytes: "Jää kelluu " is eleven characters in thirteen bytes.
                    qa("finnish-2", "Jää kelluu vedessä.", "Missä?", ("vedessä", 13)),
                    qa("english-2", "Lead sinks.", "What sinks?", ("Lead", 0)),
                    qa("finnish-3", "Lumi on valkoista.", "Mikä?", ("Lumi", 0)),
                ],
            },
        ),
        "tatoeba.deu": Config(
            SENTENCES,
            {
                "validation": [
                    _parallel("Ich höre Musik.\n", "I hear music.\n"),
                    _parallel("Wo ist der Hafen?\n", "Where is the harbour?\n"),
                    _parallel("Er lacht.", "He laughs."),
                ]
            },
        ),
        "bucc18.de": Config(SENTENCES, {"test": [_parallel("Der Fluss.", "The river.")]}),
    }


def xnli() -> dict[str, Config]:
    """The English configuration of a small facebook/xnli, whose classes are not in XTREME's order."""
    rows = [
        ("Two boats leave.", "Boats are moving.", 0),
        ("Two boats leave.", "They carry salt.", 1),
        ("Two boats leave.", "The harbour is still.", 2),
        ("Two boats leave.", "Nobody agreed on this.", -1),
    ]
    return {
        "en": Config(
            MNLI,
            {"train": [{"premise": p, "hypothesis": h, "label": label} for p, h, label in rows]},
        )
    }


def write_repository(folder: Path, configs: Mapping[str, Config]) -> Path:
    """Write parquet files and the card, as the hub keeps them."""
    infos, listed = [], []
    for name, config in configs.items():
        splits = []
        for split, rows in config.splits.items():
            path = folder / name / f"{split}-00000-of-00001.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            columns = {key: [row.get(key) for row in rows] for key in config.features}
            pq.write_table(pa.table(columns), path)
            splits.append({"name": split, "num_bytes": 1, "num_examples": len(rows)})
        features = [{"name": key, **feature} for key, feature in config.features.items()]
        infos.append({"config_name": name, "features": features, "splits": splits})
        files = [{"split": split, "path": f"{name}/{split}-*"} for split in config.splits]
        listed.append({"config_name": name, "data_files": files})
    card = yaml.safe_dump({"dataset_info": infos, "configs": listed}, sort_keys=False)
    (folder / "README.md").write_text(f"---\n{card}---\n# Small\n", encoding="utf-8")
    return folder


def _parallel(source: str, target: str) -> dict[str, Any]:
    return {
        "source_sentence": source,
        "target_sentence": target,
        "source_lang": "deu",
        "target_lang": "eng",
    }
