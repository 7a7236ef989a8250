"""Translation: small encoder-decoder models with tied embeddings, and the quality of translated data."""
