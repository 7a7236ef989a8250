"""Pre-train the tiny encoder of ``xharness/sample/checkpoint`` on ``xharness/sample/data/text`` and nothing else.

    python scripts/make_sample_checkpoint.py [--steps N] [--threads N] [--output FOLDER]

A BPE vocabulary is trained on the text; then a four-layer BERT learns four things at once:

* to fill masked words in pairs of translations (translation language modelling) and in passages of several
  sentences that answer a question;
* to point at what a statement in a passage tells beyond the question before it;
* to tell a translation from a sentence that looks like it (a classifier on the first token);
* to give translations similar mean vectors (in-batch softmax over cosines).

One seed and one number of threads give the same weights on one machine.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from safetensors.torch import save_file
from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from torch import Tensor, nn
from transformers import BertConfig, BertForPreTraining, PreTrainedTokenizerFast

from xharness.sample import CHECKPOINT, DATA

SEED: Final = 20
VOCABULARY: Final = 4500
MAX_POSITIONS: Final = 256
WIDTH: Final = 128
SPECIAL: Final = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
MASK_RATE: Final = 0.25
PIECE_DROPOUT: Final = 0.05  # BPE dropout, so that the pieces of unseen words are trained too
TEMPERATURE: Final = 0.07
EMBEDDING_SCALE: Final = 0.08  # standard deviation of the starting vectors
PAIRS, PASSAGES, SENTENCES = 16, 10, 16  # sequences a step for each objective
PEAK_RATE: Final = 1e-3
WARMUP: Final = 0.1
WORD: Final = re.compile(r"[\u4e00-\u9fff]|[^\s.?¿।。？，«»\u4e00-\u9fff]+")
LOSSES: Final = ("translation", "matching", "passage", "pointing", "likeness")


@dataclass(frozen=True)
class Unit:
    """A statement in every language, with the question that it answers where the text has one."""

    statement: Mapping[str, str]
    question: Mapping[str, str] | None


def main() -> None:
    """Train and write the checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=1400)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, default=CHECKPOINT)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    units = read_units(DATA / "text")
    tokenizer = train_tokenizer([text for unit in units for text in texts_of(unit)])
    model = pretrain(units, tokenizer, arguments.steps)
    save(model, tokenizer, arguments.output)


# --- text ---------------------------------------------------------------------------------------


def read_units(folder: Path) -> list[Unit]:
    """The parallel lines of ``{language}.txt``; a question belongs to the line after it."""
    texts = {
        path.stem: path.read_text(encoding="utf-8").split("\n")[:-1]
        for path in sorted(folder.glob("*.txt"))
    }
    rows = [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)]
    units: list[Unit] = []
    question: dict[str, str] | None = None
    for row in rows:
        if row["en"].endswith("?"):
            question = row
        else:
            units.append(Unit(row, question))
            question = None
    return units


def texts_of(unit: Unit) -> list[str]:
    """All the text of a unit."""
    return [*unit.statement.values(), *(unit.question or {}).values()]


def look_alikes(units: Sequence[Unit], count: int = 8) -> list[list[int]]:
    """For each unit the units that share most English words with it, rare words counting most."""
    words = [set(unit.statement["en"].rstrip(".").split()) for unit in units]
    frequency = Counter(word for line in words for word in line)
    nearest = []
    for line in words:
        shared = [
            (sum(frequency[word] ** -0.5 for word in sorted(line & other)), number)
            for number, other in enumerate(words)
            if other != line
        ]
        nearest.append([number for _, number in sorted(shared, reverse=True)[:count]])
    return nearest


# --- tokenizer ----------------------------------------------------------------------------------


def train_tokenizer(texts: Sequence[str]) -> Tokenizer:
    """BPE over words; punctuation and every Chinese character stand alone, as in pre-split data."""
    tokenizer = Tokenizer(models.BPE(unk_token=SPECIAL[3]))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Punctuation("isolated"),
            pre_tokenizers.Split(Regex(r"\p{Han}"), "isolated"),
            pre_tokenizers.Metaspace(prepend_scheme="always", split=False),
        ]
    )
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, min_frequency=2, special_tokens=list(SPECIAL), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B:0 </s>:0",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    return tokenizer


def aligned_embeddings(
    units: Sequence[Unit], tokenizer: Tokenizer, width: int
) -> tuple[Tensor, Tensor]:
    """Starting vectors of the pieces, (vocabulary, width): of what they mean, and of their language.

    A truncated SVD of the positive pointwise mutual information of pieces and parallel lines.
    Translations occur in the same lines and so start out alike (inverted indexing: Søgaard et al.,
    ACL 2015, on parallel text).
    """
    rows = [row for unit in units for row in (unit.statement, unit.question) if row]
    languages = sorted(units[0].statement)
    counts = torch.zeros(tokenizer.get_vocab_size(), len(rows))
    share = torch.zeros(tokenizer.get_vocab_size(), len(languages))
    for number, row in enumerate(rows):
        for language, text in row.items():
            for piece in set(tokenizer.encode(text, add_special_tokens=False).ids):
                counts[piece, number] += 1
                share[piece, languages.index(language)] += 1
    expected = counts.sum(1, keepdim=True) * counts.sum(0, keepdim=True) / counts.sum()
    information = (counts / expected.clamp_min(1e-9)).clamp_min(1).log()
    left, scale, _ = torch.svd_lowrank(information, q=width, niter=6)
    vectors = nn.functional.normalize(left * scale.sqrt(), dim=1) * width**0.5
    share = share / share.sum(1, keepdim=True).clamp_min(1)
    meaning = vectors + 0.3 * torch.randn(vectors.shape)
    return meaning, share @ torch.randn(len(languages), width)


# --- batches ------------------------------------------------------------------------------------


class Batches:
    """Draws batches for the objectives.

    Args:
        units: The parallel text.
        tokenizer: Encodes it, with piece dropout.
        rng: The source of every choice.
    """

    def __init__(self, units: Sequence[Unit], tokenizer: Tokenizer, rng: random.Random) -> None:
        self.units, self.rng = units, rng
        self.languages = sorted(units[0].statement)
        self.answers = [number for number, unit in enumerate(units) if unit.question]
        self.nearest = look_alikes(units)
        self.tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self.tokenizer.model.dropout = PIECE_DROPOUT
        self.tokenizer.enable_padding(pad_id=1, pad_token=SPECIAL[1])
        self.tokenizer.enable_truncation(MAX_POSITIONS)

    def encode(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> Tensor:
        """Piece ids, (batch, length)."""
        return torch.tensor([encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))])

    def translations(self) -> Tensor:
        """One or two statements and their translation: (batch, length)."""
        pairs = []
        for _ in range(PAIRS):
            chosen = self.rng.sample(self.units, self.rng.randint(1, 2))
            one, two = self.rng.sample(self.languages, 2)
            pairs.append(
                (
                    " ".join(unit.statement[one] for unit in chosen),
                    " ".join(unit.statement[two] for unit in chosen),
                )
            )
        return self.encode(pairs)

    def matches(self) -> tuple[Tensor, Tensor]:
        """Pairs of statements, and whether they say the same: (batch, length) and (batch,)."""
        pairs, labels = [], []
        for _ in range(PAIRS):
            index = self.rng.randrange(len(self.units))
            same = self.rng.random() < 0.5
            other = index if same else self.rng.choice(self.nearest[index])
            one, two = self.rng.choice(self.languages), self.rng.choice(self.languages)
            pairs.append((self.units[index].statement[one], self.units[other].statement[two]))
            labels.append(int(same))
        return self.encode(pairs), torch.tensor(labels)

    def passages(self) -> tuple[Tensor, Tensor]:
        """Questions before passages, and the first and last piece of the answer: (batch, length) and (batch, 2).

        One other statement of the passage looks like the one that answers.
        """
        pairs: list[tuple[str, str]] = []
        spans = []
        while len(pairs) < PASSAGES:
            number = self.rng.choice(self.answers)
            unit = self.units[number]
            told = self.rng.choice(self.languages)
            question = (unit.question or {})[told]
            start, end = news(question, unit.statement[told])
            if start == end:
                continue
            chosen = [unit, self.units[self.rng.choice(self.nearest[number])]]
            chosen += self.rng.sample(self.units, self.rng.randint(1, 2))
            self.rng.shuffle(chosen)
            sentences = [each.statement[told] for each in chosen]
            before = sum(len(sentence) + 1 for sentence in sentences[: chosen.index(unit)])
            pairs.append((question, " ".join(sentences)))
            spans.append((before + start, before + end))
        encodings = self.tokenizer.encode_batch(pairs)
        places = []
        for encoding, span in zip(encodings, spans, strict=True):
            passage = [p for p, segment in enumerate(encoding.sequence_ids) if segment == 1]
            begins = [p for p in passage if encoding.offsets[p][0] <= span[0]]
            ends = [p for p in passage if encoding.offsets[p][1] >= span[1]]
            places.append((begins[-1], ends[0]))
        return torch.tensor([encoding.ids for encoding in encodings]), torch.tensor(places)

    def sentences(self) -> tuple[Tensor, Tensor]:
        """Statements in one language each, and their translations: (batch, length) each."""
        first, second = [], []
        for unit in self.rng.sample(self.units, SENTENCES):
            one, two = self.rng.sample(self.languages, 2)
            first.append(unit.statement[one])
            second.append(unit.statement[two])
        return self.encode(first), self.encode(second)


def news(question: str, statement: str) -> tuple[int, int]:
    """The code-point range of the longest run of words in a statement that its question lacks.

    Words are compared by their first three letters, for inflection. A Chinese character is a word.
    """
    known = {match[0][:3].casefold() for match in WORD.finditer(question)}
    best, run = (0, 0), None
    for match in WORD.finditer(statement):
        if match[0][:3].casefold() in known:
            run = None
            continue
        run = (run[0] if run else match.start(), match.end())
        best = max(best, run, key=lambda span: span[1] - span[0])
    return best


def mask(ids: Tensor, vocabulary: int) -> tuple[Tensor, Tensor]:
    """BERT's masking: of the chosen pieces 80 % become the mask, 10 % a random piece.

    Returns:
        The masked ids and the targets, -100 where nothing is to be filled.
    """
    chosen = (torch.rand(ids.shape) < MASK_RATE) & (ids >= len(SPECIAL))
    targets = ids.masked_fill(~chosen, -100)
    how = torch.rand(ids.shape)
    masked = ids.masked_fill(chosen & (how < 0.8), SPECIAL.index("<mask>"))
    swap = chosen & (how >= 0.8) & (how < 0.9)
    return torch.where(swap, torch.randint(len(SPECIAL), vocabulary, ids.shape), masked), targets


# --- training -----------------------------------------------------------------------------------


def pretrain(units: Sequence[Unit], tokenizer: Tokenizer, steps: int) -> BertForPreTraining:
    """The encoder after ``steps`` updates, each on one batch of every objective."""
    torch.manual_seed(SEED)
    model = BertForPreTraining(
        BertConfig(
            vocab_size=tokenizer.get_vocab_size(),
            hidden_size=WIDTH,
            num_hidden_layers=4,
            num_attention_heads=4,
            intermediate_size=256,
            max_position_embeddings=MAX_POSITIONS,
            type_vocab_size=1,
            pad_token_id=1,
            bos_token_id=0,
            eos_token_id=2,
            tie_word_embeddings=False,
            initializer_range=0.05,  # 0.02 is for wide models; here it would leave attention flat for long
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
    ).train()
    with torch.no_grad():
        # A little language in the input, much in the output: the encoder may think alike in every
        # language, and still does not guess masked words in the wrong one.
        meaning, language = aligned_embeddings(units, tokenizer, WIDTH)
        model.bert.embeddings.word_embeddings.weight.copy_(
            EMBEDDING_SCALE * (meaning + 0.25 * language)
        )
        model.cls.predictions.decoder.weight.copy_(EMBEDDING_SCALE * (meaning + language))
    batches = Batches(units, tokenizer, random.Random(SEED))
    pointer = nn.Linear(WIDTH, 2)  # scores of the first and the last piece
    optimizer = torch.optim.AdamW(
        [*model.parameters(), *pointer.parameters()],
        lr=PEAK_RATE,
        betas=(0.9, 0.98),
        weight_decay=0.01,
    )

    def rate(step: int) -> float:
        return min((step + 1) / (WARMUP * steps), (steps - step) / ((1 - WARMUP) * steps))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    start, sums = time.monotonic(), torch.zeros(len(LOSSES))
    for step in range(1, steps + 1):
        passages, answers = batches.passages()
        losses = torch.stack(
            [
                filling_loss(model, batches.translations()),
                matching_loss(model, *batches.matches()),
                filling_loss(model, passages[: PASSAGES // 2]),
                pointing_loss(model, pointer, passages, answers),
                likeness_loss(model, *batches.sentences()),
            ]
        )
        torch.autograd.backward(losses.sum())
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        sums += losses.detach()
        if step % 100 == 0:
            means = zip(LOSSES, (sums / 100).tolist(), strict=True)
            shown = "  ".join(f"{name} {value:.3f}" for name, value in means)
            print(f"step {step}  {time.monotonic() - start:.0f} s  {shown}", flush=True)
            sums.zero_()
    return model


def filling_loss(model: BertForPreTraining, ids: Tensor) -> Tensor:
    """Cross entropy of masked pieces; the vocabulary is scored at those alone."""
    masked, targets = mask(ids, model.config.vocab_size)
    hidden = model.bert(masked, attention_mask=(ids != 1).long()).last_hidden_state
    places = targets != -100
    return nn.functional.cross_entropy(model.cls.predictions(hidden[places]), targets[places])


def matching_loss(model: BertForPreTraining, ids: Tensor, labels: Tensor) -> Tensor:
    """Cross entropy of "says the same" from the first token."""
    pooled = model.bert(ids, attention_mask=(ids != 1).long()).pooler_output
    return nn.functional.cross_entropy(model.cls.seq_relationship(pooled), labels)


def pointing_loss(
    model: BertForPreTraining, pointer: nn.Linear, ids: Tensor, answers: Tensor
) -> Tensor:
    """Cross entropy of the first and the last piece of the answer."""
    real = ids != 1
    scores = pointer(
        model.bert(ids, attention_mask=real.long()).last_hidden_state
    )  # (batch, length, 2)
    scores = scores.masked_fill(~real.unsqueeze(-1), -1e9)
    return nn.functional.cross_entropy(scores, answers)


def likeness_loss(model: BertForPreTraining, first: Tensor, second: Tensor) -> Tensor:
    """In-batch softmax over cosines of mean vectors, both ways, averaged over the last two layers."""
    sides = []
    for ids in (first, second):
        real = (ids != 1).long()
        states = model.bert(ids, attention_mask=real, output_hidden_states=True).hidden_states
        weights = (real / real.sum(1, keepdim=True)).unsqueeze(-1)  # (batch, length, 1)
        sides.append([nn.functional.normalize((s * weights).sum(1), dim=1) for s in states[-2:]])
    labels = torch.arange(len(first))
    losses = []
    for one, two in zip(*sides, strict=True):
        cosines = one @ two.T / TEMPERATURE
        losses.append(nn.functional.cross_entropy(cosines, labels))
        losses.append(nn.functional.cross_entropy(cosines.T, labels))
    return torch.stack(losses).mean()


# --- writing ------------------------------------------------------------------------------------


def save(model: BertForPreTraining, tokenizer: Tokenizer, folder: Path) -> None:
    """The encoder without its pre-training heads, weights in half precision, and the tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    state = model.bert.state_dict()
    weights = {name: value.detach().half().contiguous() for name, value in state.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = model.bert.config
    config.architectures = ["BertModel"]
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.1  # for fine-tuning
    config.dtype = "float32"  # the storage is half precision, the arithmetic is not
    config.save_pretrained(folder)
    begin, pad, end, unknown, masked = SPECIAL
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=begin,
        cls_token=begin,
        eos_token=end,
        sep_token=end,
        pad_token=pad,
        unk_token=unknown,
        mask_token=masked,
        model_input_names=["input_ids", "attention_mask"],
        model_max_length=MAX_POSITIONS,
    ).save_pretrained(folder)


if __name__ == "__main__":
    main()
