"""Word-level language models: text, embeddings, LSTM and Transformer, a Kneser-Ney baseline, and two studies."""
