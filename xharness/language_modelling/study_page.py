"""What the pages of studies share: the models' table, and perplexity by epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tabulate import tabulate

from xharness.analysis.statements import over_seeds
from xharness.language_modelling.study import Result, Study, read_json

Results = Mapping[str, Sequence[Result]]


def model_table(study: Study, results: Results) -> str:
    """Return parameters, perplexities and time of every configuration, the n-gram model in the last row."""
    rows = []
    for name in study.names:
        found = results[name]
        cells = [
            f"{found[0].parameters / 1e6:.3f}M" if found else "-",
            *(over_seeds([one.perplexity(split) for one in found]) for split in ("train", "dev")),
            over_seeds([one.perplexity("test") for one in found]),
            over_seeds([one.step_milliseconds for one in found]),
            str(len(found)),
        ]
        rows.append([name, study.config(name).title, *cells])
    if study.baseline.exists():
        baseline = read_json(study.baseline)
        dev, test = (f"{baseline['perplexity'][split]:.1f}" for split in ("dev", "test"))
        title = f"Interpolated Kneser-Ney, order {baseline['order']}"
        rows.append(["kneser-ney", title, "-", "-", dev, test, "-", "-"])
    header = ["model", "", "parameters", "train", "dev", "test", "ms a step", "n"]
    return table(header, rows)


def epoch_table(study: Study, results: Results) -> str:
    """Return train and dev perplexity after each epoch, of the first seed of every configuration."""
    epochs = study.config(study.names[0]).training.epochs
    rows = []
    for name in study.names:
        if not results[name]:
            continue
        history = results[name][0].raw["history"]
        cells = [f"{one['train_perplexity']:.0f} / {one['dev_perplexity']:.0f}" for one in history]
        rows.append([name, *cells, *["-"] * (epochs - len(cells))])
    return table(["model", *map(str, range(1, epochs + 1))], rows)


def text_line(results: Results) -> str:
    """Say how large the text is and how many of its words are unknown."""
    first = next((found[0] for found in results.values() if found), None)
    if first is None:
        return "Nothing has been run yet."
    text = first.raw["text"]
    parts = [
        f"{split} {text[split]['words']:,} words ({text[split]['unknown_percent']:.1f} % unknown)"
        for split in ("train", "dev", "test")
    ]
    return (
        f"Text: {', '.join(parts)}; a vocabulary of {text['vocabulary']:,} words, `<unk>` and `<eos>` among them. "
        "The end of a line counts as a word. The dev text is the end of the training file, not trained on; the test "
        "text is the held-out file."
    )


def setting_line(study: Study, results: Results) -> str:
    """Say how the models were trained."""
    config = study.config(study.names[0])
    training, model = config.training, config.model
    decay = (
        f"SGD at rate {config.learning_rate:g}, after epoch {training.full_rate_epochs} times {training.decay:g} an "
        "epoch"
        if config.optimizer == "sgd"
        else f"AdamW at rate {config.learning_rate:g}, {training.warmup_steps} steps of warm-up, then linear decay"
    )
    first = next((found[0] for found in results.values() if found), None)
    steps = ""
    if first is not None:
        length = int(first.raw["text"]["train"]["words"]) // training.streams
        steps = f", {training.epochs * -(-length // training.window):,} steps in all"
    environments = sorted(
        {
            f"{one.raw['environment']['device']}, threads: {one.raw['environment']['threads']}"
            for found in results.values()
            for one in found
        }
    )
    return (
        f"A model is {'an LSTM' if model.kind == 'lstm' else 'a Transformer'} of {model.layers} layers of "
        f"{model.hidden_size}, dropout {model.dropout:g}; {training.epochs} epochs "
        f"of {training.streams} streams, windows of {training.window} words{steps}; {decay}; gradient norm "
        f"{config.max_grad_norm:g}; products in {training.dtype}, evaluation in float32. "
        f"Device: {'; '.join(environments) or 'none yet'}."
    )


FIGURES = (
    "Perplexity is over all words, `<eos>` and `<unk>` among them, lower is better; the state is carried over the "
    "whole text. Train perplexity is what the best epoch met while it trained, dev and test that of the weights after "
    "the epoch with the lowest dev perplexity. A step's time is CPU time, median over epochs. Mean ± standard "
    "deviation over n seeds."
)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a markdown table of cells that are text already."""
    return tabulate(rows, header, "pipe", disable_numparse=True)
