"""Pre-training: text, vocabulary, token shards, sampling, masking, and training of the built-in encoder."""
